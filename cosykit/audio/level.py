"""Loudness of a stream: gain, clickless edges, and peaks below full scale."""

import numpy as np
from numpy.typing import NDArray

from cosykit.types import Samples


def apply_gain(samples: Samples, gain: float) -> Samples:
    """Scale samples; 1 returns them untouched. The result may exceed full scale."""
    return samples if gain == 1 else samples * np.float32(gain)


def fade_edges(samples: Samples, sample_rate: int, fade_s: float = 0.005) -> Samples:
    """Fade a piece in and out, so that it joins others without a click.

    Both fades are half a raised cosine, from and to silence; in a piece shorter than
    both they meet in the middle.
    """
    length = min(round(fade_s * sample_rate), samples.size // 2)
    if length == 0:
        return samples
    phase = (np.arange(length, dtype=np.float32) + 0.5) * np.float32(np.pi / length)
    rise = (1 - np.cos(phase)) / 2
    faded = samples.copy()
    faded[:length] *= rise
    faded[-length:] *= rise[::-1]
    return faded


class Limiter:
    """Keeps the peaks of a stream at or below a ceiling without clipping them.

    A look-ahead sees each peak coming, so that the gain glides down before it and
    recovers slowly after it. Audio below the ceiling passes unchanged to the last bit.
    The output is as long as the input, runs at most twice the look-ahead behind it, and
    is the same however the input is cut into pieces.

    Args:
        sample_rate: Samples a second.
        ceiling_dbfs: Highest peak of the output, in dB of full scale.
        look_ahead_s: Time in which the gain goes down.
        release_s: Time in which the gain would come back from silence to 1.
    """

    # All gains are kept as reductions, `1 - gain`: where nothing is reduced every sum
    # is exactly 0 and the audio stays untouched. The input is worked on in blocks of
    # one look-ahead each, counted from its start, whatever pieces it comes in: that
    # makes the arithmetic the same for every way to cut it.

    def __init__(
        self,
        sample_rate: int,
        *,
        ceiling_dbfs: float = -0.3,
        look_ahead_s: float = 0.005,
        release_s: float = 0.2,
    ) -> None:
        self._ceiling = float(np.float32(10 ** (ceiling_dbfs / 20)))
        self._block = max(1, round(look_ahead_s * sample_rate))
        self._recovery = np.arange(1, self._block + 1) / (release_s * sample_rate)
        window = np.hanning(self._block + 3)[1:-1]
        self._window = window / window.sum()
        self._reduction = np.zeros(self._block)
        # One block of silence ahead lets the gain glide down before the first sample.
        self._pending: list[Samples] = [np.zeros(self._block, np.float32)]
        self._pending_size = self._block
        self._lead_in = self._block

    def process(self, samples: Samples) -> Samples:
        """Take the next samples, of any level, and return those that are ready."""
        self._pending.append(samples)
        self._pending_size += samples.size
        blocks = self._pending_size // self._block - 1
        if blocks < 1:
            return np.zeros(0, np.float32)
        audio = np.concatenate(self._pending)
        end = blocks * self._block
        self._pending = [audio[end:]]
        self._pending_size -= end
        return self._skip_lead_in(self._limit(audio[: end + self._block]))

    def finish(self) -> Samples:
        """End the stream and return the rest of it."""
        held = self._pending_size - self._lead_in
        padding = np.zeros(2 * self._block, np.float32)
        return self.process(padding)[:held]

    def _skip_lead_in(self, samples: Samples) -> Samples:
        skipped = min(self._lead_in, samples.size)
        self._lead_in -= skipped
        return samples[skipped:]

    def _limit(self, audio: Samples) -> Samples:
        """Limit all blocks but the last one, which is only looked at."""
        magnitude = np.abs(audio, dtype=np.float64)
        if not self._reduction.any() and magnitude.max() <= self._ceiling:
            return audio[: -self._block]
        needed = 1 - self._ceiling / np.maximum(magnitude, self._ceiling)
        starts = range(0, audio.size - self._block, self._block)
        reductions = [self._glide(needed[at : at + 2 * self._block]) for at in starts]
        limited = audio[: -self._block] * (1 - np.concatenate(reductions))
        return np.clip(limited, -self._ceiling, self._ceiling).astype(np.float32)

    def _glide(self, needed: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn what one block and the next need into smooth reductions of the first.

        Each reduction is a mean of the highest needs seen a look-ahead before, and so
        never less than its own sample needs.
        """
        ahead = np.lib.stride_tricks.sliding_window_view(needed, self._block + 1)
        highest = ahead[: self._block].max(axis=1)
        ramp = self._recovery
        released = np.maximum.accumulate(highest + ramp)
        held = np.maximum(released, self._reduction[-1]) - ramp
        held = np.maximum(held, highest)
        smooth = np.convolve(
            np.concatenate([self._reduction, held]), self._window, "valid"
        )
        self._reduction = held
        return smooth
