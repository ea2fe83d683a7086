import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosykit.audio.level import Limiter, apply_gain, fade_edges
from cosykit.types import Samples
from tests.audio.signals import RATE, cut, noise, tone

CEILING = np.float32(10 ** (-0.3 / 20))
LOOK_AHEAD = RATE * 5 // 1000


def limited(samples: Samples, sizes: list[int] | None = None) -> Samples:
    limiter = Limiter(RATE)
    pieces = [limiter.process(piece) for piece in cut(samples, sizes or [])]
    return np.concatenate([*pieces, limiter.finish()])


def bursts(seed: int, size: int) -> Samples:
    """Quiet noise with a few loud stretches, from soft to four times full scale."""
    random = np.random.default_rng(seed)
    envelope = np.full(size, 0.2)
    for _ in range(random.integers(0, 4)):
        start = random.integers(0, max(size, 1))
        envelope[start : start + random.integers(1, 600)] = random.uniform(0.2, 4)
    return np.asarray(random.uniform(-1, 1, size) * envelope, np.float32)


def test_audio_below_the_ceiling_passes_to_the_last_bit() -> None:
    samples = noise(10_000, level=0.96)
    np.testing.assert_array_equal(limited(samples), samples)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(0, 6_000),
    sizes=st.lists(st.integers(0, 2_000), max_size=6),
)
def test_peaks_length_and_bits_do_not_depend_on_the_cuts(
    seed: int, size: int, sizes: list[int]
) -> None:
    samples = bursts(seed, size)
    whole = limited(samples)
    assert whole.dtype == np.float32
    assert whole.size == samples.size
    assert np.abs(whole).max(initial=0) <= CEILING
    np.testing.assert_array_equal(limited(samples, sizes), whole)


def test_pieces_of_one_sample_give_the_same() -> None:
    samples = bursts(3, 2_000)
    np.testing.assert_array_equal(limited(samples, [1] * 2_000), limited(samples))


@pytest.mark.parametrize("place", [0, 1, LOOK_AHEAD, 5_000, 9_999])
def test_a_single_peak_anywhere_is_held(place: int) -> None:
    samples = noise(10_000, level=0.1)
    samples[place] = -3
    assert np.abs(limited(samples)).max() == pytest.approx(CEILING, rel=1e-3)


def test_a_loud_tone_is_turned_down_not_clipped() -> None:
    sine = np.sin(np.arange(RATE) * 2 * np.pi * 440 / RATE).astype(np.float32)
    steady = slice(RATE // 2, -RATE // 10)
    heard = limited(2 * sine)[steady]
    gain = np.abs(heard).max()
    distortion = heard - gain * sine[steady]
    assert gain == pytest.approx(CEILING, abs=0.01)
    assert 20 * np.log10(distortion.std() / heard.std()) < -35
    clipped = np.clip(2 * sine, -CEILING, CEILING)[steady]
    assert (clipped - clipped.max() * sine[steady]).std() > 5 * distortion.std()


def test_the_gain_moves_without_a_step() -> None:
    samples = np.full(RATE, 0.5, np.float32)
    samples[RATE // 2 : RATE // 2 + 500] = 2
    gains = limited(samples) / samples
    assert np.abs(np.diff(gains)).max() < 0.02


def test_the_level_comes_back_after_a_peak() -> None:
    samples = noise(RATE, level=0.5)
    samples[1_000] = 4
    after = 1_000 + RATE // 5 + LOOK_AHEAD
    heard = limited(samples)
    assert np.abs(heard[1_200]) < np.abs(samples[1_200])
    np.testing.assert_array_equal(heard[after:], samples[after:])


def test_the_limiter_holds_back_no_more_than_twice_its_look_ahead() -> None:
    limiter = Limiter(RATE)
    heard = 0
    for taken, piece in enumerate(cut(noise(3_000), [1] * 3_000)):
        heard += limiter.process(piece).size
        assert taken - heard < 2 * LOOK_AHEAD


def test_a_limiter_without_samples_ends_empty() -> None:
    assert Limiter(RATE).finish().size == 0


def test_gain_one_is_the_very_samples() -> None:
    samples = tone(0.1)
    assert apply_gain(samples, 1.0) is samples
    np.testing.assert_allclose(apply_gain(samples, 0.5), samples / 2)
    assert apply_gain(samples, 0.3).dtype == np.float32


def test_fades_touch_only_the_edges() -> None:
    samples = np.ones(RATE, np.float32)
    faded = fade_edges(samples, RATE)
    edge = RATE * 5 // 1000
    assert abs(faded[0]) < 0.001
    assert abs(faded[-1]) < 0.001
    assert (np.diff(faded[:edge]) > 0).all()
    assert (np.diff(faded[-edge:]) < 0).all()
    np.testing.assert_array_equal(faded[edge:-edge], samples[edge:-edge])
    assert (samples == 1).all()


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_a_piece_shorter_than_its_fades_keeps_its_length(size: int) -> None:
    faded = fade_edges(np.ones(size, np.float32), RATE)
    assert faded.size == size
    assert np.isfinite(faded).all()


def test_fades_of_two_pieces_join_without_a_click() -> None:
    piece = fade_edges(tone(0.2) + np.float32(0.3), RATE)
    assert np.abs(np.diff(np.concatenate([piece, piece]))).max() < 0.15
