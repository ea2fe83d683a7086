"""Sounds that are much like speech."""

import numpy as np

from cosykit.types import Samples


def speech(duration_s: float, peak: float = 0.5, rate: int = 16_000) -> Samples:
    """A buzz that swells and fades like syllables, the same at every sample rate."""
    times = np.arange(round(duration_s * rate)) / rate
    buzz = np.sum([np.sin(2 * np.pi * 140 * n * times) / n for n in range(1, 12)], 0)
    syllables = buzz * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * times))
    samples: Samples = (syllables * (peak / np.abs(syllables).max())).astype(np.float32)
    return samples


def silence(duration_s: float, rate: int = 16_000) -> Samples:
    """Nothing to hear."""
    return np.zeros(round(duration_s * rate), np.float32)
