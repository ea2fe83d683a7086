"""The one way from a request to encoded audio, for every protocol."""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from functools import partial
from typing import Self

from cosykit.audio.encode import Encoder
from cosykit.audio.formats import AudioFormat, media_type, rate_for
from cosykit.audio.pcm import whole_wav
from cosykit.config.schema import AudioSettings
from cosykit.errors import CosykitError
from cosykit.seams import Engine
from cosykit.server.beside import in_thread
from cosykit.server.cache.cache import Entry, Status
from cosykit.server.cache.finished import FinishedSpeech
from cosykit.server.exchange import Serving
from cosykit.server.service import AUTO, SpeechService
from cosykit.synthesis.loop import Loop
from cosykit.synthesis.pipeline import by_itself, check_abilities, listen, modes_of
from cosykit.types import SpeechRequest


@dataclass(frozen=True, slots=True)
class Output:
    """How to encode.

    Attributes:
        sample_rate: Samples a second; 0 keeps the engine's own where the format can.
        opus_bit_rate: As of `Encoder`, for speech that is not kept in the cache.
    """

    audio_format: AudioFormat
    sample_rate: int = 0
    opus_bit_rate: int | None = None

    @classmethod
    def chosen(
        cls, audio_format: AudioFormat | None, sample_rate: int, default: AudioSettings
    ) -> Self:
        """Fill in what a request leaves open from the configuration."""
        chosen = audio_format or default.format
        if not sample_rate and default.sample_rate:
            sample_rate = rate_for(chosen, default.sample_rate)
        return cls(chosen, sample_rate)


class EncodedSpeech:
    """The encoded audio of one request; made while it is taken.

    Attributes:
        sample_rate: Samples a second of the encoded audio, once it has started.
        duration_s: Seconds of speech made so far.
    """

    def __init__(
        self, service: SpeechService, request: SpeechRequest, out: Output, model: str
    ) -> None:
        self.sample_rate = 0
        self.duration_s = 0.0
        self._service = service
        self._out = out
        self._model = model
        self._encoded = self._encode(by_itself(request))
        self._first = b""
        self._serving: Serving | None = None
        self._remarks: Sequence[str] = ()
        self._began = time.perf_counter()
        self._waited_s = 0.0
        self._cache_status: Status = ""

    @property
    def audio_format(self) -> AudioFormat:
        """Container and codec."""
        return self._out.audio_format

    @property
    def headers(self) -> dict[str, str]:
        """Which model speaks, why no better one does, and what a recording lacks."""
        assert self._serving
        info = self._serving.loop.engine.info
        headers = {
            "X-Cosykit-Model": info.model,
            "X-Cosykit-Provider": info.provider,
            "X-Cosykit-Precision": info.precision,
        }
        if self._serving.fallback:
            headers["X-Cosykit-Fallback"] = self._serving.fallback
        if self._cache_status:
            headers["X-Cosykit-Cache"] = self._cache_status
        if self._remarks:
            headers["X-Cosykit-Remarks"] = "; ".join(self._remarks)
        return {name: _ascii(value) for name, value in headers.items()}

    @property
    def media_type(self) -> str:
        """Value of a `Content-Type` header."""
        return media_type(self._out.audio_format, self.sample_rate)

    async def start(self) -> None:
        """Wait for the first piece: whatever is wrong with the request shows here."""
        self._first = await self._next()
        self._service.metrics.first_byte.observe(self._waited_s)

    async def pieces(self) -> AsyncGenerator[bytes]:
        """Yield all pieces; closing the iterator cancels the request."""
        async with aclosing(self._all()) as pieces:
            try:
                async for piece in pieces:
                    yield piece
            except CosykitError as error:
                # The answer has begun, so this is the last place to note it.
                self._service.note_failure(error)
                raise

    async def whole(self) -> bytes:
        """Wait for all pieces and join them to a file that knows its length."""
        audio = b"".join([piece async for piece in self._all()])
        return whole_wav(audio) if self.audio_format == "wav" else audio

    async def _all(self) -> AsyncGenerator[bytes]:
        async with aclosing(self._encoded):
            piece = self._first
            while piece:
                yield piece
                piece = await self._next()
        metrics = self._service.metrics
        metrics.total.observe(time.perf_counter() - self._began)
        if self.duration_s and self._cache_status != "hit":
            metrics.factor.observe(self._waited_s / self.duration_s)

    async def _next(self) -> bytes:
        """Wait for the next piece; empty at the end."""
        began = time.perf_counter()
        piece = await anext(self._encoded, b"")
        self._waited_s += time.perf_counter() - began
        return piece

    async def _encode(self, request: SpeechRequest) -> AsyncGenerator[bytes]:
        """Yield non-empty pieces."""
        modes, voice = modes_of(request), request.voice
        async with self._service.hold(self._model, modes, voice) as serving:
            self._serving = serving
            async with self._entry(serving.loop.engine, request) as entry:
                self._cache_status = entry.status
                if entry.found:
                    pieces = self._spoken_before(entry.found)
                else:
                    pieces = self._spoken(serving.loop, request, entry)
                async with aclosing(pieces):
                    async for piece in pieces:
                        yield piece

    def _entry(
        self, engine: Engine, request: SpeechRequest
    ) -> AbstractAsyncContextManager[Entry]:
        """Look a request up in the cache, as soon as it makes sense to this engine."""
        check_abilities(engine, request)
        rate = self._out.sample_rate or rate_for(
            self._out.audio_format, engine.sample_rate
        )
        return self._service.cache.entry(engine, request, self._out.audio_format, rate)

    async def _spoken_before(self, speech: FinishedSpeech) -> AsyncGenerator[bytes]:
        self.sample_rate, self.duration_s = speech.sample_rate, speech.duration_s
        self._remarks = speech.remarks
        self._service.metrics.audio.inc(speech.duration_s)
        for piece in speech.pieces():
            yield piece

    async def _spoken(
        self, loop: Loop, request: SpeechRequest, entry: Entry
    ) -> AsyncGenerator[bytes]:
        self._remarks = await measure(self._service, loop.engine, request)
        async with aclosing(self._encoded_by(loop, request)) as pieces:
            async for piece in pieces:
                entry.collect(piece)
                yield piece
        await entry.keep(self.sample_rate, self.duration_s, self._remarks)

    async def _encoded_by(
        self, loop: Loop, request: SpeechRequest
    ) -> AsyncGenerator[bytes]:
        with await open_encoder(self._out, loop.engine.sample_rate) as encoder:
            self.sample_rate = encoder.sample_rate
            waited_s = time.perf_counter() - self._began
            async with aclosing(loop.stream(request, waited_s)) as chunks:
                async for chunk in chunks:
                    self.duration_s += chunk.duration_s
                    self._service.metrics.audio.inc(chunk.duration_s)
                    if piece := await in_thread(partial(encoder.encode, chunk.samples)):
                        yield piece
            if piece := await in_thread(encoder.finish):
                yield piece


async def measure(
    service: SpeechService, engine: Engine, request: SpeechRequest
) -> Sequence[str]:
    """Measure the recordings of a request before the engine's thread would have to.

    Returns:
        What could be better about them.

    Raises:
        CosykitError: The engine cannot do what is asked for, or they are of no use.
    """
    if not (request.prompt or request.source):
        return ()
    check_abilities(engine, request)
    return await service.measuring.run(partial(listen, engine, request))


async def open_encoder(out: Output, input_rate: int) -> Encoder:
    """Open an encoder for the samples of an engine.

    Raises:
        InputError: The format cannot hold the sample rate.
    """
    return await in_thread(
        partial(
            Encoder,
            out.audio_format,
            input_rate=input_rate,
            sample_rate=out.sample_rate or None,
            opus_bit_rate=out.opus_bit_rate,
        )
    )


async def start_speech(
    service: SpeechService, request: SpeechRequest, out: Output, model: str = AUTO
) -> EncodedSpeech:
    """Speak a request up to its first piece of encoded audio.

    Args:
        model: An installed model, which is loaded if need be; `auto` and OpenAI's
            names are the configured one, or, where the configuration leaves the
            choice, one that can do what is asked.

    Raises:
        CosykitError: The request cannot be spoken, or not now.
    """
    speech = EncodedSpeech(service, request, out, model)
    await speech.start()
    return speech


def _ascii(text: str) -> str:
    """Write a text on one line of what headers may hold."""
    return " ".join(text.encode("ascii", "replace").decode().split())
