"""The way from a request to finished audio, the same for every engine and protocol.

    request ─▶ engine (text ─▶ … ─▶ waveform, piece by piece) ─▶ finishing

The engine speaks; what every engine needs afterwards is done here.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from cosykit.audio.level import Limiter, apply_gain
from cosykit.audio.pitch import PitchShifter
from cosykit.errors import ComputationError, InputError
from cosykit.seams import Engine, VoiceKeeper
from cosykit.spec import Mode, hint_of_able
from cosykit.types import AudioChunk, Samples, SpeechRequest

_LACKS: Mapping[Mode, str] = MappingProxyType(
    {
        "zero_shot": "does not clone voices",
        "instruct": "does not follow instructions",
        "voice_conversion": "does not convert voices",
    }
)
# Fields of a request by what they take.
_FIELDS: Mapping[Mode, str] = MappingProxyType(
    {
        "zero_shot": "prompt",
        "instruct": "instructions",
        "voice_conversion": "source",
    }
)


def check_abilities(engine: Engine, request: SpeechRequest) -> None:
    """Refuse what an engine would have to leave out.

    Raises:
        InputError: The request asks for more than the engine can do.
    """
    for mode in lacking(engine, modes_of(request)):
        raise unable(engine.info.model, mode)


def lacking(engine: Engine, modes: Iterable[Mode]) -> Sequence[Mode]:
    """List what an engine cannot do of what is asked, see `modes_of`."""
    can = engine.capabilities
    able: Mapping[Mode, bool] = {
        "zero_shot": can.cloning,
        "instruct": can.instructions,
        "voice_conversion": can.conversion,
    }
    return [mode for mode in modes if not able[mode]]


def modes_of(request: SpeechRequest) -> Sequence[Mode]:
    """List what a request asks for beyond a voice of the model."""
    asked: Mapping[Mode, bool] = {
        "zero_shot": request.prompt is not None,
        "instruct": bool((request.instructions or "").strip()),
        "voice_conversion": request.source is not None,
    }
    return [mode for mode, is_asked in asked.items() if is_asked]


def listen(engine: Engine, request: SpeechRequest) -> Sequence[str]:
    """Measure the recordings of a request ahead, which may take seconds.

    Returns:
        What could be better about the recorded voice.

    Raises:
        InputError: The engine cannot do what is asked for, or not with the recordings.
    """
    check_abilities(engine, request)
    if isinstance(engine, VoiceKeeper) and (request.prompt or request.source):
        return engine.listen(request)
    return ()


def unable(model: str, mode: Mode) -> InputError:
    """Say that a model lacks an ability, and which model of the catalogue has it."""
    return InputError(
        f"{model} {_LACKS[mode]}",
        hint=hint_of_able(lambda spec: mode in spec.modes),
        param=_FIELDS[mode],
    )


def by_itself(request: SpeechRequest) -> SpeechRequest:
    """Take the spaces and line breaks around a text away, which say nothing there.

    A sentence of a text that goes on keeps them: a line break after it is a pause.
    """
    return replace(request, text=request.text.strip())


def for_engine(request: SpeechRequest) -> SpeechRequest:
    """Ask an engine for the tempo that the finishing makes another pitch of."""
    if request.pitch == 1:
        return request
    return replace(request, speed=request.speed / request.pitch, pitch=1.0)


class Finishing:
    """Finishes the audio of one request: peaks below full scale, no sample lost.

        chunks ─▶ volume ─▶ pitch ─▶ limiter ─▶ chunks

    Args:
        sample_rate: Samples a second of the chunks.
        volume: Gain.
        pitch: What frequencies are multiplied by, see `for_engine`.
    """

    def __init__(self, sample_rate: int, volume: float, pitch: float = 1.0) -> None:
        self._sample_rate = sample_rate
        self._volume = volume
        self._shifter = PitchShifter(pitch)
        self._limiter = Limiter(sample_rate)

    def process(self, chunk: AudioChunk) -> AudioChunk:
        """Finish a chunk; its last few milliseconds come with the next.

        Raises:
            ComputationError: The model computed no sound.
        """
        _check_sound(chunk.samples)
        louder = apply_gain(chunk.samples, self._volume)
        shifted = self._shifter.process(louder)
        return AudioChunk(self._limiter.process(shifted), chunk.sample_rate, chunk.text)

    def finish(self) -> AudioChunk | None:
        """Give what is left at the end, if anything is."""
        last = self._limiter.process(self._shifter.finish())
        tail = np.concatenate([last, self._limiter.finish()])
        return AudioChunk(tail, self._sample_rate) if tail.size else None


def _check_sound(samples: Samples) -> None:
    """Refuse what is not a number, which a device would play as noise or not at all."""
    if not np.isfinite(samples).all():
        raise ComputationError("the model")


def speak(engine: Engine, request: SpeechRequest) -> Generator[AudioChunk]:
    """Synthesize a request.

    Raises:
        InputError: The request cannot be spoken; raised before the first chunk.
        ComputationError: The model computed no sound.
    """
    check_abilities(engine, request)
    finishing = Finishing(engine.sample_rate, request.volume, request.pitch)
    for chunk in engine.synthesize(for_engine(request)):
        yield finishing.process(chunk)
    if tail := finishing.finish():
        yield tail
