import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.parity import log_spectral_distance_db, signal_to_error_db


def noise(seed: int, amplitude: float = 0.1) -> NDArray[np.float32]:
    drawn = np.random.default_rng(seed).standard_normal(22_050)
    return (amplitude * drawn).astype(np.float32)


def test_signal_to_error_of_a_tenth_is_20_db() -> None:
    wanted = noise(1)
    assert signal_to_error_db(wanted * 1.1, wanted) == pytest.approx(20, abs=1e-3)
    assert signal_to_error_db(wanted, wanted) == float("inf")


def test_distance_of_a_gain_is_the_gain() -> None:
    wanted = noise(1)
    found = log_spectral_distance_db(wanted * np.float32(0.5), wanted)
    assert found == pytest.approx(20 * np.log10(2), abs=1e-3)
    assert log_spectral_distance_db(wanted, wanted) == 0


def test_distance_of_independent_noises_is_that_of_their_statistics() -> None:
    # The logarithm of a noise's power spectrum deviates by 5.57 dB; two of them, by
    # the square root of two more.
    found = log_spectral_distance_db(noise(1), noise(2))
    assert found == pytest.approx(7.88, abs=0.15)


def test_distance_does_not_see_what_no_16_bit_sample_can_hold() -> None:
    silence = np.zeros(22_050, np.float32)
    assert log_spectral_distance_db(noise(1, 1e-6), silence) == 0


def test_different_lengths_are_not_compared() -> None:
    with pytest.raises(ValueError, match="cannot be compared"):
        log_spectral_distance_db(noise(1), noise(1)[:-1])
    with pytest.raises(ValueError, match="cannot be compared"):
        signal_to_error_db(noise(1), noise(1)[:-1])
