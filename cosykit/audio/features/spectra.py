"""Windowed frames of a recording and their spectra."""

import numpy as np
from numpy.typing import NDArray

from cosykit.types import Samples

Array = NDArray[np.float32]


def frames(samples: Samples, size: int, hop: int) -> Array:
    """View the whole frames of a recording, (frames, size), without copying.

    There are none if the recording is shorter than a frame.
    """
    if samples.size < size:
        return np.zeros((0, size), np.float32)
    return np.lib.stride_tricks.sliding_window_view(samples, size)[::hop]


def reflected(samples: Samples, length: int) -> Samples:
    """Lengthen a recording at both ends by its mirror image.

    Args:
        samples: Longer than `length`.
    """
    return np.pad(samples, length, mode="reflect")


def hann(size: int, *, periodic: bool) -> Array:
    """Make a raised cosine, (size)."""
    window = np.hanning(size + 1)[:-1] if periodic else np.hanning(size)
    return window.astype(np.float32)


def power(windowed: Array, fft_size: int) -> Array:
    """Give the power of each frequency, (frames, fft_size / 2 + 1)."""
    spectra = np.fft.rfft(windowed, fft_size, axis=-1)
    squares: Array = np.square(spectra.real)
    squares += np.square(spectra.imag)
    return squares
