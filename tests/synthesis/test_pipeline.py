"""What every engine's audio goes through, on an engine that hums."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from cosykit.errors import ComputationError, InputError
from cosykit.seams import Capabilities, EngineInfo
from cosykit.synthesis.pipeline import modes_of, speak
from cosykit.types import AudioChunk, Samples, SpeechRequest, Voice
from tests.audio.signals import RATE, frequency_of


class Hummer:
    """Hums at 200 Hz for a second, at a tempo of 1, in chunks of a size."""

    info = EngineInfo("hummer", provider="cpu", precision="fp32", threads=1)
    sample_rate = RATE
    capabilities = Capabilities()

    def __init__(self, chunk: int = RATE // 7, level: float = 0.3) -> None:
        self._chunk, self._level = chunk, level

    def voices(self) -> Sequence[Voice]:
        return ()

    def synthesize(self, request: SpeechRequest) -> Iterator[AudioChunk]:
        time = np.arange(round(RATE / request.speed)) / RATE
        sound = self._level * np.sin(2 * np.pi * 200 * time)
        for start in range(0, sound.size, self._chunk):
            piece = sound[start : start + self._chunk]
            yield AudioChunk(piece.astype(np.float32), RATE)

    def cancel(self, request_id: str) -> None:
        pass

    def close(self) -> None:
        pass


def heard(engine: Hummer, *, pitch: float, speed: float = 1.0) -> Samples:
    request = SpeechRequest("hum", pitch=pitch, speed=speed)
    return np.concatenate([chunk.samples for chunk in speak(engine, request)])


@pytest.mark.parametrize(
    ("pitch", "speed"), [(1.5, 1.0), (0.5, 1.0), (2.0, 0.5), (0.5, 2.0), (1.25, 2.0)]
)
def test_pitch_moves_and_the_tempo_is_as_asked(pitch: float, speed: float) -> None:
    samples = heard(Hummer(), pitch=pitch, speed=speed)
    assert frequency_of(samples) == pytest.approx(200 * pitch, abs=3)
    assert samples.size == pytest.approx(RATE / speed, abs=2)


def test_pitch_is_the_same_however_the_engine_cuts_its_audio() -> None:
    whole = heard(Hummer(10 * RATE), pitch=1.5)
    np.testing.assert_array_equal(heard(Hummer(77), pitch=1.5), whole)


def test_peaks_of_another_pitch_stay_below_full_scale() -> None:
    samples = heard(Hummer(level=1.0), pitch=1.37)
    assert 0.9 < np.abs(samples).max() < 1.0


@pytest.mark.parametrize("sample", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_never_heard(sample: float) -> None:
    class Broken(Hummer):
        def synthesize(self, request: SpeechRequest) -> Iterator[AudioChunk]:
            good, bad, *_ = super().synthesize(request)
            yield good
            bad.samples[100] = sample
            yield bad

    chunks = speak(Broken(), SpeechRequest("hum"))
    assert np.isfinite(next(chunks).samples).all()
    with pytest.raises(ComputationError, match="NaN"):
        next(chunks)


@pytest.mark.parametrize(
    ("speed", "pitch"), [(1.0, 2.1), (1.0, 0.4), (0.4, 2.0), (3.0, 0.5), (0.25, 1.001)]
)
def test_impossible_pitch_is_refused(speed: float, pitch: float) -> None:
    with pytest.raises(InputError, match="out of range"):
        SpeechRequest("hum", speed=speed, pitch=pitch)


def test_blank_instructions_are_none() -> None:
    assert modes_of(SpeechRequest("hum", instructions=" \n")) == []
    assert modes_of(SpeechRequest("hum", instructions="low")) == ["instruct"]
    assert list(speak(Hummer(), SpeechRequest("hum", instructions=" ")))


def test_too_many_pronunciations_are_refused() -> None:
    readings = {f"word{number}": "sound" for number in range(201)}
    with pytest.raises(InputError, match="201 pronunciations"):
        SpeechRequest("hum", pronunciations=readings)
