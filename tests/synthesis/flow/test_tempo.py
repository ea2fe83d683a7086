import numpy as np
import pytest

from cosykit.synthesis.flow.stretch import interpolate
from cosykit.synthesis.flow.tempo import Tempo
from cosykit.types import Mel

SPEEDS = [0.25, 0.5, 0.77, 1.3, 2.0, 4.0]


def streamed(mel: Mel, speed: float, chunk: int) -> Mel:
    tempo, frames = Tempo(speed), mel.shape[-1]
    pieces = [
        tempo.process(mel[:, start : start + chunk], last=False)
        for start in range(0, frames, chunk)
    ]
    return np.concatenate([*pieces, tempo.process(mel[:, :0], last=True)], axis=-1)


def noise(frames: int) -> Mel:
    return np.random.default_rng(1).normal(size=(4, frames)).astype(np.float32)


def test_own_tempo_changes_nothing() -> None:
    mel = noise(9)
    assert Tempo(1).process(mel, last=False) is mel


@pytest.mark.parametrize("speed", SPEEDS)
def test_whole_utterance_is_resampled_as_upstream_does(speed: float) -> None:
    mel = noise(103)
    found = Tempo(speed).process(mel, last=True)
    np.testing.assert_array_equal(found, interpolate(mel, int(103 / speed)))


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("chunk", [1, 7, 40])
def test_result_does_not_depend_on_the_chunks(speed: float, chunk: int) -> None:
    mel = noise(103)
    found = streamed(mel, speed, chunk)
    assert found.shape == (4, int(103 / speed))
    np.testing.assert_allclose(found, streamed(mel, speed, 103), atol=1e-5)


@pytest.mark.parametrize("speed", SPEEDS)
def test_joins_are_smooth(speed: float) -> None:
    ramp = np.arange(103, dtype=np.float32)[None]
    steps = np.diff(streamed(ramp, speed, 10)[0])
    inner = steps[5:-5]
    np.testing.assert_allclose(inner, speed, rtol=1e-4)
