"""Say how near what was computed is to what it should be."""

import numpy as np
from numpy.typing import NDArray


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
