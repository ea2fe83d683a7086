"""The way from a request to finished audio, the same for every engine and protocol.

    request ─▶ engine (text ─▶ … ─▶ waveform, piece by piece) ─▶ volume ─▶ limiter

The engine speaks; what every engine needs afterwards is done here.
"""

from collections.abc import Generator

from cosykit.audio.level import Limiter, apply_gain
from cosykit.types import AudioChunk, Engine, SpeechRequest


def speak(engine: Engine, request: SpeechRequest) -> Generator[AudioChunk]:
    """Synthesize a request; peaks stay below full scale, no sample is lost.

    Raises:
        InputError: The request cannot be spoken; raised before the first chunk.
    """
    limiter = Limiter(engine.sample_rate)
    for chunk in engine.synthesize(request):
        louder = apply_gain(chunk.samples, request.volume)
        yield AudioChunk(limiter.process(louder), chunk.sample_rate, chunk.text)
    tail = limiter.finish()
    if tail.size:
        yield AudioChunk(tail, engine.sample_rate)
