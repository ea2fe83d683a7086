"""The one way from a request to encoded audio, for every protocol."""

import asyncio
import base64
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request

from cosykit.audio.encode import Encoder
from cosykit.audio.formats import AudioFormat, media_type
from cosykit.server.service import SpeechService
from cosykit.types import SpeechRequest


@dataclass(frozen=True, slots=True)
class Output:
    """How to encode.

    Attributes:
        sample_rate: Samples a second; 0 keeps the engine's own where the format can.
    """

    audio_format: AudioFormat
    sample_rate: int = 0


class EncodedSpeech:
    """The encoded audio of one request; made while it is taken.

    Attributes:
        media_type: Value of a `Content-Type` header.
        sample_rate: Samples a second of the encoded audio.
        duration_s: Seconds of speech made so far.
    """

    def __init__(
        self,
        service: SpeechService,
        request: SpeechRequest,
        out: Output,
        input_rate: int,
    ) -> None:
        self._encoder = Encoder(
            out.audio_format,
            input_rate=input_rate,
            sample_rate=out.sample_rate or None,
        )
        self.sample_rate = self._encoder.sample_rate
        self.media_type = media_type(out.audio_format, self.sample_rate)
        self.duration_s = 0.0
        self._service = service
        self._rest = self._encode(request)
        self._first = b""

    async def start(self) -> None:
        """Wait for the first piece: whatever is wrong with the request shows here."""
        self._first = await anext(self._rest, b"")

    async def pieces(self) -> AsyncGenerator[bytes]:
        """Yield all pieces; closing the iterator cancels the request."""
        async with aclosing(self._rest):
            yield self._first
            async for piece in self._rest:
                yield piece

    async def whole(self) -> bytes:
        """Wait for all pieces and join them."""
        return b"".join([piece async for piece in self.pieces()])

    async def aclose(self) -> None:
        """Cancel the request."""
        await self._rest.aclose()

    async def _encode(self, request: SpeechRequest) -> AsyncGenerator[bytes]:
        """Yield non-empty pieces; encoding leaves the event loop free."""
        metrics, began = self._service.metrics, time.perf_counter()
        with self._encoder as encoder:
            async with aclosing(self._service.stream(request)) as chunks:
                async for chunk in chunks:
                    if not self.duration_s:
                        metrics.first_byte.observe(time.perf_counter() - began)
                    self.duration_s += chunk.duration_s
                    metrics.audio.inc(chunk.duration_s)
                    piece = await asyncio.to_thread(encoder.encode, chunk.samples)
                    if piece:
                        yield piece
            if piece := await asyncio.to_thread(encoder.finish):
                yield piece
        elapsed_s = time.perf_counter() - began
        metrics.total.observe(elapsed_s)
        if self.duration_s:
            metrics.factor.observe(elapsed_s / self.duration_s)


async def start_speech(
    service: SpeechService, request: SpeechRequest, out: Output, connection: Request
) -> EncodedSpeech:
    """Speak a request up to its first piece of encoded audio.

    Raises:
        CosykitError: The request cannot be spoken, or not now.
        ClientDisconnect: The client went away while it waited.
    """
    engine = (await service.loaded()).engine
    speech = EncodedSpeech(service, request, out, engine.sample_rate)
    start = asyncio.create_task(speech.start())
    gone = asyncio.create_task(_wait_until_gone(connection))
    try:
        await asyncio.wait({start, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not start.done():
            raise ClientDisconnect
        await start
        return speech
    finally:
        gone.cancel()
        if start.cancel():
            await asyncio.wait({start})
            await speech.aclose()


async def _wait_until_gone(connection: Request) -> None:
    while (await connection.receive())["type"] != "http.disconnect":
        pass


def as_base64(audio: bytes) -> str:
    """Write bytes for a JSON field."""
    return base64.b64encode(audio).decode("ascii")
