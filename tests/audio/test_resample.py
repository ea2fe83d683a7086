import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosykit.audio.resample import Resampler
from cosykit.types import Samples
from tests.audio.signals import RATE, cut, noise

RATES = [8_000, 11_025, 16_000, 22_050, 44_100, 48_000]


def resampled(samples: Samples, sizes: list[int], rate: int) -> Samples:
    resampler = Resampler(RATE, rate)
    pieces = [resampler.process(piece) for piece in cut(samples, sizes)]
    pieces.append(resampler.process(np.zeros(0, np.float32), last=True))
    return np.concatenate(pieces)


def test_equal_rates_pass_the_very_samples_through() -> None:
    samples = noise(100)
    assert Resampler(RATE, RATE).process(samples) is samples


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("size", [0, 1, 7, 24_001])
def test_length_follows_the_ratio(rate: int, size: int) -> None:
    assert abs(resampled(noise(size), [], rate).size - size * rate / RATE) <= 1


@pytest.mark.parametrize("rate", RATES)
def test_a_tone_stays_the_same_tone(rate: int) -> None:
    heard = resampled(np.sin(np.arange(RATE) * 0.05).astype(np.float32), [], rate)
    wanted = np.sin(np.arange(heard.size) * 0.05 * RATE / rate)
    inner = slice(rate // 10, -rate // 10)
    np.testing.assert_allclose(heard[inner], wanted[inner], atol=1e-3)


@settings(max_examples=25)
@given(sizes=st.lists(st.integers(0, 900), max_size=8), rate=st.sampled_from(RATES))
def test_output_is_the_same_however_the_input_is_cut(
    sizes: list[int], rate: int
) -> None:
    samples = noise(4_000)
    np.testing.assert_array_equal(
        resampled(samples, sizes, rate), resampled(samples, [], rate)
    )


def test_pieces_of_one_sample_are_enough() -> None:
    samples = noise(3_000)
    np.testing.assert_array_equal(
        resampled(samples, [1] * 3_000, 16_000), resampled(samples, [], 16_000)
    )


def test_samples_come_out_before_the_stream_ends() -> None:
    resampler = Resampler(RATE, 48_000)
    assert resampler.process(noise(RATE)).size >= 2 * (RATE - RATE // 25)
