"""The way from a request to finished audio, the same for every engine and protocol.

    request ─▶ engine (text ─▶ … ─▶ waveform, piece by piece) ─▶ volume ─▶ limiter

The engine speaks; what every engine needs afterwards is done here.
"""

from collections.abc import Generator

from cosykit.audio.level import Limiter, apply_gain
from cosykit.types import AudioChunk, Engine, SpeechRequest


class Finishing:
    """Finishes the audio of one request: peaks below full scale, no sample lost.

    Args:
        sample_rate: Samples a second of the chunks.
        volume: Gain.
    """

    def __init__(self, sample_rate: int, volume: float) -> None:
        self._sample_rate = sample_rate
        self._volume = volume
        self._limiter = Limiter(sample_rate)

    def process(self, chunk: AudioChunk) -> AudioChunk:
        """Finish a chunk; its last few milliseconds come with the next."""
        louder = apply_gain(chunk.samples, self._volume)
        return AudioChunk(self._limiter.process(louder), chunk.sample_rate, chunk.text)

    def finish(self) -> AudioChunk | None:
        """Give what is left at the end, if anything is."""
        tail = self._limiter.finish()
        return AudioChunk(tail, self._sample_rate) if tail.size else None


def speak(engine: Engine, request: SpeechRequest) -> Generator[AudioChunk]:
    """Synthesize a request.

    Raises:
        InputError: The request cannot be spoken; raised before the first chunk.
    """
    finishing = Finishing(engine.sample_rate, request.volume)
    for chunk in engine.synthesize(request):
        yield finishing.process(chunk)
    if tail := finishing.finish():
        yield tail
