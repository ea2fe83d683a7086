"""The random numbers of the vocoder's source."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

# The fundamental and its eight overtones.
WAVES = 9


class Chances(Protocol):
    """Where the random numbers of an utterance come from."""

    def phases(self) -> Array:
        """Give uniform numbers from -pi to pi, (waves)."""

    def noise(self, samples: int) -> Array:
        """Give further normal numbers, (waves, samples)."""


class Drawn:
    """Random numbers of a seed: the n-th sample's are the same however it is asked."""

    def __init__(self, seed: Sequence[int]) -> None:
        self._generator = np.random.default_rng(seed)

    def phases(self) -> Array:
        """Draw phases."""
        unit = self._generator.random(WAVES, np.float32)
        return (2 * unit - 1) * np.float32(np.pi)

    def noise(self, samples: int) -> Array:
        """Draw noise, sample by sample."""
        return self._generator.standard_normal((samples, WAVES), np.float32).T
