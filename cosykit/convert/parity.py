"""Say how near what was computed is to what it should be."""

import numpy as np
from numpy.typing import NDArray

from cosykit.types import Samples

_WINDOW, _HOP = 1024, 256
# Below this, relative to a sine at full scale, lies the noise of 16-bit samples.
_FLOOR_DB = -100.0


def signal_to_error_db(
    found: NDArray[np.generic], wanted: NDArray[np.generic]
) -> float:
    """Give the ratio of signal to error, in dB; infinite where there is no error.

    Raises:
        ValueError: The shapes differ.
    """
    if found.shape != wanted.shape:
        raise ValueError(f"{found.shape} cannot be compared with {wanted.shape}")
    signal = wanted.astype(np.float64)
    error = np.square(found.astype(np.float64) - signal).sum()
    if error == 0:
        return float("inf")
    return float(10 * np.log10(np.square(signal).sum() / error))


def log_spectral_distance_db(found: Samples, wanted: Samples) -> float:
    """Give the distance of two power spectra as they are heard, in dB.

    The mean over short windows of the root mean square, over frequencies, of the
    difference between the logarithms of the power spectra.

    Source: A. Gray and J. Markel, Distance Measures for Speech Processing, IEEE
    Transactions on Acoustics, Speech, and Signal Processing 24 (5), 1976

    Raises:
        ValueError: The shapes differ, or the samples do not fill a window.
    """
    if found.shape != wanted.shape:
        raise ValueError(f"{found.shape} cannot be compared with {wanted.shape}")
    difference = _spectra_db(found) - _spectra_db(wanted)
    return float(np.sqrt(np.square(difference).mean(axis=1)).mean())


def _spectra_db(samples: Samples) -> NDArray[np.float64]:
    """Give (windows, frequencies); a sine at full scale is 0 dB."""
    window = np.hanning(_WINDOW + 1)[:-1]
    pieces = np.lib.stride_tricks.sliding_window_view(samples, _WINDOW)[::_HOP]
    magnitudes = np.abs(np.fft.rfft(pieces * window)) / (window.sum() / 2)
    spectra: NDArray[np.float64] = 20 * np.log10(
        np.maximum(magnitudes, 10 ** (_FLOOR_DB / 20))
    )
    return spectra
