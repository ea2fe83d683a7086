import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosykit.audio.pitch import PitchShifter
from cosykit.types import Samples
from tests.audio.signals import RATE, cut, frequency_of, noise

PITCHES = [0.5, 0.8123, 1.2, 1.5, 2.0]


def shifted(samples: Samples, sizes: list[int], pitch: float) -> Samples:
    shifter = PitchShifter(pitch)
    pieces = [shifter.process(piece) for piece in cut(samples, sizes)]
    return np.concatenate([*pieces, shifter.finish()])


def hum(frequency: float, duration_s: float = 1.0) -> Samples:
    time = np.arange(round(duration_s * RATE)) / RATE
    return np.asarray(0.3 * np.sin(2 * np.pi * frequency * time), np.float32)


@pytest.mark.parametrize("pitch", PITCHES)
def test_frequencies_are_multiplied_and_the_length_divided(pitch: float) -> None:
    heard = shifted(hum(200), [], pitch)
    assert frequency_of(heard) == pytest.approx(200 * pitch, abs=2)
    assert heard.size == pytest.approx(RATE / pitch, abs=1)


def test_pitch_of_one_passes_the_very_samples_through() -> None:
    samples = noise(100)
    assert PitchShifter(1.0).process(samples) is samples


@settings(max_examples=25)
@given(sizes=st.lists(st.integers(0, 900), max_size=8), pitch=st.sampled_from(PITCHES))
def test_output_is_the_same_however_the_input_is_cut(
    sizes: list[int], pitch: float
) -> None:
    samples = noise(4_000)
    np.testing.assert_array_equal(
        shifted(samples, sizes, pitch), shifted(samples, [], pitch)
    )
