"""One connection of Wyoming: what is asked for, and the speech that answers.

    describe ─▶ info          ping ─▶ pong
    synthesize ─▶ audio-start audio-chunk … audio-stop
    synthesize-start synthesize-chunk … synthesize-stop ─▶ the same, synthesize-stopped

An error is told, and then the connection is closed: clients wait for audio-stop, and
would take it for the end of whole speech.
"""

import asyncio
import time
from collections.abc import Coroutine
from contextlib import aclosing, suppress
from uuid import uuid4

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event, Eventable, async_write_event
from wyoming.info import Describe
from wyoming.ping import Ping, Pong
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeStopped,
)

from cosykit.errors import CosykitError, InputError, SilenceError
from cosykit.server.admission import Client
from cosykit.server.discretion import discreet
from cosykit.server.live import LiveSpeech
from cosykit.server.live_events import EncodedAudio
from cosykit.server.operations import check_length
from cosykit.server.request_log import REQUEST_ID, note_answer
from cosykit.server.service import SpeechService
from cosykit.server.speech import Output, start_speech
from cosykit.server.streaming import taken_within
from cosykit.server.wyoming.events import Manner, Piece, WholeText, asked, read_event
from cosykit.server.wyoming.voices import describe, language_of
from cosykit.synthesis.limits import closing
from cosykit.types import SpeechRequest

_SAMPLE_BYTES = 2
# Bytes of audio in an event.
_MOST_BYTES = 1 << 15
# What a client may still take when the grace of a closing server has run out.
_LAST_MOMENT_S = 1.0


class Conversation:
    """Answers the events of one connection."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        service: SpeechService,
    ) -> None:
        self._reader, self._writer, self._service = reader, writer, service
        address = str((writer.get_extra_info("peername") or ("",))[0])
        self._client = Client(address, address=address)
        self._receiving = asyncio.create_task(self._receive())
        self._live: LiveSpeech | None = None
        self._speaking: asyncio.Task[None] | None = None

    async def hold(self) -> None:
        """Talk until the client leaves, something fails or the server closes."""
        patience_s = self._service.settings.server.silence_s
        try:
            while event := await self._next_event():
                await self._answer(event)
        except CosykitError as error:
            await self._fail(error)
        except asyncio.CancelledError:
            # Nobody but a server whose grace has run out cancels.
            patience_s = _LAST_MOMENT_S
            with suppress(TimeoutError):
                async with asyncio.timeout(patience_s):
                    await self._fail(closing())
        except OSError:
            # The client has gone.
            pass
        finally:
            await self._stop_listening_and_speaking()
            await self._close(patience_s)

    async def _fail(self, error: CosykitError) -> None:
        """Tell of a failure, with no audio after it."""
        self._service.note_failure(error)
        await self._stop_listening_and_speaking()
        told = discreet(error, self._service.settings.models_dir)
        with suppress(CosykitError, OSError):
            await self._tell(Error(text=str(told), code=told.code))

    async def _stop_listening_and_speaking(self) -> None:
        tasks = [task for task in (self._receiving, self._speaking) if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _close(self, patience_s: float) -> None:
        """Let the client take what was sent last, but not for ever."""
        self._writer.close()
        try:
            async with asyncio.timeout(patience_s):
                await self._writer.wait_closed()
        except OSError:
            # Of a timeout too.
            pass
        finally:
            self._writer.transport.abort()

    async def _receive(self) -> Event | None:
        limit_bytes = self._service.settings.server.max_body_mb << 20
        return await read_event(self._reader, limit_bytes)

    async def _next_event(self) -> Event | None:
        """Wait for an event; None if none will come, or the server closes.

        Raises:
            SilenceError: None comes for a time.
            CosykitError: What is being said fails meanwhile.
        """
        settings = self._service.settings
        patience_s = settings.server.silence_s
        ending = asyncio.create_task(self._service.closing.wait())
        awaited: set[asyncio.Task[object]] = {self._receiving, ending}
        if self._speaking:
            awaited.add(self._speaking)
            patience_s = settings.engine.timeout_s
        try:
            done, _ = await asyncio.wait(
                awaited, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            ending.cancel()
        if self._speaking in done:
            # Before its end has been said, only a failure ends it.
            await self._speaking
        if self._receiving in done:
            event = await self._receiving
            self._receiving = asyncio.create_task(self._receive())
            return event
        if ending in done:
            await self._last_words()
            return None
        raise SilenceError(
            f"nothing was sent for {patience_s:g} s", hint="Close what is not used"
        )

    async def _last_words(self) -> None:
        """Speak what has come of a text when the server closes."""
        if self._live and self._speaking:
            self._live.finish()
            await self._speaking
            raise closing()

    async def _answer(self, event: Event) -> None:
        if Describe.is_type(event.type):
            await self._describe()
        elif Ping.is_type(event.type):
            await self._tell(Pong(text=Ping.from_event(event).text))
        elif Synthesize.is_type(event.type):
            # Amid a text in pieces it repeats them, for servers that do not know them.
            if not self._live:
                await self._noted(self._synthesize(asked(WholeText, event)))
        elif SynthesizeStart.is_type(event.type):
            await self._start(asked(Manner, event))
        elif SynthesizeChunk.is_type(event.type):
            self._stream().feed(asked(Piece, event).text)
        elif SynthesizeStop.is_type(event.type):
            await self._stop()
        # All others are passed over, as the protocol asks.

    async def _describe(self) -> None:
        async with self._service.hold() as serving:
            engine = serving.loop.engine
            # An engine may look into files for its voices.
            voices = await asyncio.to_thread(engine.voices)
        await self._tell(describe(engine.info.model, voices))

    async def _synthesize(self, text: WholeText) -> None:
        check_length(text.text, self._service.settings.server.max_text_chars)
        await self._while_connected(self._speak(self._request(text, text.text)))

    async def _speak(self, request: SpeechRequest) -> None:
        speech = await start_speech(self._service, request, self._output())
        async with aclosing(speech.pieces()) as pieces:
            await self._tell(_start_of(speech.sample_rate))
            async for piece in pieces:
                await self._tell_audio(piece, speech.sample_rate)
        await self._tell(AudioStop())

    async def _start(self, manner: Manner) -> None:
        if self._live:
            raise InputError(
                "the text before has not ended", hint="Send synthesize-stop first"
            )
        request = self._request(manner, "")
        self._live = LiveSpeech(self._service, request, self._output())
        self._speaking = asyncio.create_task(self._noted(self._stream_out(self._live)))

    def _stream(self) -> LiveSpeech:
        if not self._live:
            raise InputError("no text has begun", hint="Send synthesize-start first")
        return self._live

    async def _stop(self) -> None:
        self._stream().finish()
        speaking, self._live, self._speaking = self._speaking, None, None
        assert speaking
        await self._while_connected(_wait_for(speaking))
        await self._tell(SynthesizeStopped())

    async def _stream_out(self, live: LiveSpeech) -> None:
        async with live.started() as events:
            await self._tell(_start_of(live.sample_rate))
            async for event in events:
                if isinstance(event, EncodedAudio):
                    await self._tell_audio(event.piece, live.sample_rate)
        await self._tell(AudioStop())

    def _request(self, manner: Manner, text: str) -> SpeechRequest:
        self._service.admission.count(self._client)
        return SpeechRequest(
            text,
            voice=manner.voice.name if manner.voice else None,
            language=language_of(manner.voice),
            client=self._client.name,
        )

    def _output(self) -> Output:
        return Output.chosen("pcm", 0, self._service.settings.audio)

    async def _while_connected(self, work: Coroutine[object, object, None]) -> None:
        """Do some work; end it when the client leaves."""
        working = asyncio.create_task(work)
        try:
            await asyncio.wait(
                {working, self._receiving}, return_when=asyncio.FIRST_COMPLETED
            )
            if not working.done() and await self._receiving is None:
                raise ConnectionResetError
            await working
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    async def _noted(self, work: Coroutine[object, object, None]) -> None:
        """Speak, with a line in the log and a count."""
        REQUEST_ID.set(uuid4().hex)
        began, status = time.perf_counter(), "CANCELLED"
        try:
            await work
            status = "OK"
        except CosykitError as error:
            status = error.code
            raise
        finally:
            elapsed_s = time.perf_counter() - began
            route = "Wyoming synthesize"
            note_answer(self._service.metrics, route, status, elapsed_s)

    async def _tell_audio(self, piece: bytes, rate: int) -> None:
        for at in range(0, len(piece), _MOST_BYTES):
            audio = piece[at : at + _MOST_BYTES]
            await self._tell(AudioChunk(rate, _SAMPLE_BYTES, 1, audio))

    async def _tell(self, what: Eventable) -> None:
        """Send an event, as soon as the client takes more.

        Raises:
            SilenceError: It takes nothing for so long that it must be gone.
        """
        async with taken_within(self._service.settings.engine.timeout_s):
            await async_write_event(what.event(), self._writer)


def _start_of(sample_rate: int) -> AudioStart:
    return AudioStart(sample_rate, _SAMPLE_BYTES, 1)


async def _wait_for(task: asyncio.Task[None]) -> None:
    await task
