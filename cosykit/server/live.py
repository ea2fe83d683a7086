"""Speech of a text that comes in pieces, as one encoded stream, for every protocol.

    feed() ─▶ sentences ─▶ engine, one after the other ─▶ encoder ─▶ events()

While a sentence is handed out, the next one is spoken already.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from functools import partial
from uuid import uuid4

from cosykit.audio.formats import checked_rate, media_type, rate_for
from cosykit.errors import BusyError, DeadlineError, InputError, NothingToSpeakError
from cosykit.seams import Engine
from cosykit.server.beside import in_thread
from cosykit.server.live_events import (
    EncodedAudio,
    Interrupted,
    LiveEvent,
    SentenceBegan,
    SentenceEnded,
)
from cosykit.server.service import AUTO, SpeechService
from cosykit.server.speech import Output, measure, open_encoder
from cosykit.server.stretch import Said, Stretch
from cosykit.synthesis.loop import Loop
from cosykit.synthesis.pipeline import by_itself, check_abilities, modes_of
from cosykit.synthesis.text.incremental import IncomingText
from cosykit.synthesis.text.language import main_language
from cosykit.synthesis.text.marks import has_words
from cosykit.synthesis.voice.lookup import find_voice
from cosykit.types import AudioChunk, Language, SpeechRequest

# In texts of server.max_text_chars: 204,800 characters of its default.
_MOST_WAITING = 50
# Between two attempts to have the next sentence spoken.
_RETRY_S = 0.2


class LiveSpeech:
    """Speech of a text that comes in pieces, as one encoded stream.

    It belongs to one event loop. Sentences with nothing to speak in them are passed
    over. Where no voice is named, or a name of several, the first sentence chooses it.

    Args:
        manner: How to speak; its text is not looked at.
        model: As of `start_speech`.

    Attributes:
        sample_rate: Samples a second of the encoded audio, once it has started.
        model: Id of the model that speaks, once it has started.
        duration_s: Seconds of speech that were encoded so far.
    """

    def __init__(
        self,
        service: SpeechService,
        manner: SpeechRequest,
        out: Output,
        model: str = AUTO,
    ) -> None:
        self.sample_rate = 0
        self.model = model
        self.duration_s = 0.0
        self._service = service
        self._manner = manner
        self._out = out
        self._text = IncomingText()
        self._has_come = asyncio.Event()
        self._is_complete = False
        self._stretch = Stretch()
        self._voice: str | None = None
        self._count = 0
        self._asked_at: float | None = None

    @property
    def media_type(self) -> str:
        """Value of a `Content-Type` header, once it has started."""
        return media_type(self._out.audio_format, self.sample_rate)

    def feed(self, text: str) -> None:
        """Take the next part of the text, cut anywhere.

        Raises:
            InputError: No more was to come, or too much waits to be spoken.
        """
        if self._is_complete:
            raise InputError("text came after its end", hint="Begin another speech")
        most = _MOST_WAITING * self._service.settings.server.max_text_chars
        if self._text.length + len(text) > most:
            raise InputError(
                f"more than {most} characters would wait to be spoken",
                hint="Send text as it is spoken, or raise server.max_text_chars",
                param="text",
            )
        self._text.feed(text)
        self._has_come.set()

    def flush(self) -> None:
        """Speak what has come, whether or not a sentence has ended."""
        self._text.flush()
        self._has_come.set()

    def finish(self) -> None:
        """Say that no more text comes."""
        self._is_complete = True
        self.flush()

    def interrupt(self) -> None:
        """Drop what is being said and all that waits; more may be fed afterwards."""
        self._text.clear()
        self._stretch.break_off()

    async def events(self) -> AsyncGenerator[LiveEvent]:
        """Yield what happens until all is spoken; closing the iterator cancels it.

        Raises:
            CosykitError: It cannot be spoken, or not now.
        """
        async with self.started() as events:
            async for event in events:
                yield event

    @asynccontextmanager
    async def started(self) -> AsyncGenerator[AsyncGenerator[LiveEvent]]:
        """Wait for the model, so that all is known about the stream before an event.

        Raises:
            CosykitError: Nobody can speak in this manner, or not now.
        """
        modes, voice = modes_of(self._manner), self._manner.voice
        async with self._service.hold(self.model, modes, voice) as serving:
            engine = serving.loop.engine
            check_abilities(engine, self._manner)
            if self._manner.voice and not self._manner.prompt:
                await self._find_voice(engine, self._manner.language or "zh")
            await measure(self._service, engine, self._manner)
            audio_format, rate = self._out.audio_format, self._out.sample_rate
            rate = rate or rate_for(audio_format, engine.sample_rate)
            self.sample_rate = checked_rate(audio_format, rate)
            self.model = engine.info.model
            async with aclosing(self._events(serving.loop)) as events:
                yield events

    async def _events(self, loop: Loop) -> AsyncGenerator[LiveEvent]:
        may_be_empty = True
        while True:
            stretch = self._stretch
            encoded = self._encoded(stretch, loop, may_be_empty=may_be_empty)
            async with aclosing(encoded):
                async for event in encoded:
                    yield event
            if not stretch.is_broken:
                return
            # From now on, an interruption means what follows.
            self._stretch, may_be_empty = Stretch(), False
            yield Interrupted()

    async def _encoded(
        self, stretch: Stretch, loop: Loop, *, may_be_empty: bool
    ) -> AsyncGenerator[LiveEvent]:
        """Encode what is said until it ends or is broken off."""
        with await open_encoder(self._out, loop.engine.sample_rate) as encoder:
            is_heard = may_be_empty
            async with aclosing(stretch.said(self._spoken(loop))) as said:
                async for what in said:
                    if not isinstance(what, AudioChunk):
                        yield what
                        continue
                    is_heard = True
                    piece = await in_thread(partial(encoder.encode, what.samples))
                    if stretch.is_broken:
                        return
                    self._note_audio(what)
                    if piece:
                        yield EncodedAudio(piece)
            if is_heard and not stretch.is_broken:
                piece = await in_thread(encoder.finish)
                if piece and not stretch.is_broken:
                    yield EncodedAudio(piece)

    def _note_audio(self, chunk: AudioChunk) -> None:
        self.duration_s += chunk.duration_s
        metrics = self._service.metrics
        metrics.audio.inc(chunk.duration_s)
        if self._asked_at is not None:
            metrics.first_byte.observe(time.perf_counter() - self._asked_at)
            self._asked_at = None

    async def _spoken(self, loop: Loop) -> AsyncGenerator[Said]:
        """Speak the sentences one after the other."""
        while sentence := await self._next_sentence():
            request = await self._request(loop.engine, sentence)
            async with aclosing(self._sentence(loop, request)) as said:
                async for what in said:
                    yield what

    async def _next_sentence(self) -> str | None:
        """Wait for a sentence with something in it; None at the end of the text."""
        while True:
            sentence = self._text.take()
            if sentence is None:
                if self._is_complete:
                    return None
                self._has_come.clear()
                await self._has_come.wait()
            elif has_words(sentence):
                return sentence
            else:
                # 200,000 commas take 10 s, which nobody else should wait for at once.
                await asyncio.sleep(0)

    async def _request(self, engine: Engine, sentence: str) -> SpeechRequest:
        if self._asked_at is None and not self._count:
            self._asked_at = time.perf_counter()
        if self._voice is None and not self._manner.prompt:
            # A voice for each language would be several voices in one speech.
            language = self._manner.language or main_language(sentence)
            self._voice = await self._find_voice(engine, language)
        return replace(
            self._manner, text=sentence, voice=self._voice, request_id=uuid4().hex
        )

    async def _find_voice(self, engine: Engine, language: Language) -> str:
        # An engine may look into files for its voices.
        voices = await asyncio.to_thread(engine.voices)
        return find_voice(voices, self._manner.voice, language).id

    async def _sentence(
        self, loop: Loop, request: SpeechRequest
    ) -> AsyncGenerator[Said]:
        index, duration_s = self._count, 0.0
        try:
            async with aclosing(self._chunks(loop, request)) as chunks:
                async for chunk in chunks:
                    if not duration_s:
                        self._count += 1
                        yield SentenceBegan(index, request.text)
                    duration_s += chunk.duration_s
                    yield chunk
        except NothingToSpeakError:
            return
        if duration_s:
            yield SentenceEnded(index, request.text, duration_s)

    async def _chunks(
        self, loop: Loop, request: SpeechRequest
    ) -> AsyncGenerator[AudioChunk]:
        """Speak a sentence; once some were spoken, wait where others are refused."""
        patience_s = self._service.settings.engine.start_within_s
        goal = time.monotonic() + (patience_s if self._count else 0)
        has_begun = False
        if self._is_complete and self._text.is_blank:
            request = by_itself(request)
        while True:
            try:
                async with aclosing(loop.stream(request)) as chunks:
                    async for chunk in chunks:
                        if chunk.samples.size:
                            has_begun = True
                            yield chunk
                return
            except BusyError as error:
                is_late = time.monotonic() >= goal or isinstance(error, DeadlineError)
                if has_begun or is_late:
                    raise
            await asyncio.sleep(_RETRY_S)
