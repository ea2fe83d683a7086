"""Move the pitch of a stream, and its tempo with it."""

import numpy as np

from cosykit.audio.resample import Resampler
from cosykit.types import Samples

# The ratio of the rates that the resampler is told; finer steps nobody hears.
_STEPS = 10_000


class PitchShifter:
    """Plays a stream faster, and so higher, or slower and lower.

    Speech at a tempo of 1 / pitch comes out at its own tempo and at another pitch. The
    joined output is the same, bit for bit, however the input is cut. A pitch of 1
    passes the samples through untouched and at once.

    Args:
        pitch: What frequencies are multiplied by, and the length is divided by.
    """

    def __init__(self, pitch: float) -> None:
        self._resampler = Resampler(round(pitch * _STEPS), _STEPS)

    def process(self, samples: Samples) -> Samples:
        """Take the next samples and return those that are ready."""
        return self._resampler.process(samples)

    def finish(self) -> Samples:
        """End the stream and return the rest of it."""
        return self._resampler.process(np.zeros(0, np.float32), last=True)
