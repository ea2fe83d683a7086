"""Change the tempo of a mel, chunk by chunk, without changing its pitch."""

from math import ceil

import numpy as np

from cosykit.synthesis.flow.stretch import interpolate, interpolate_at
from cosykit.types import Mel


class Tempo:
    """Resamples the frames of one utterance.

    Source: cosyvoice/cli/model.py CosyVoiceModel.token2wav, which does so for whole
    utterances only
    """

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._kept: Mel | None = None
        self._dropped = self._given = 0

    def process(self, mel: Mel, *, last: bool) -> Mel:
        """Take the next frames and give those that are ready."""
        if self._speed == 1:
            return mel
        if self._kept is None and last:
            return interpolate(mel, int(mel.shape[-1] / self._speed))
        if self._kept is not None:
            mel = np.concatenate([self._kept, mel], axis=-1)
        heard = self._dropped + mel.shape[-1]
        ready = self._ready(heard, last)
        places = (np.arange(self._given, ready) + 0.5) * self._speed - 0.5
        resampled = interpolate_at(mel, np.maximum(places - self._dropped, 0))
        self._given = ready
        self._keep(mel)
        return resampled

    def _ready(self, heard: int, last: bool) -> int:
        """Count the frames that so many make, or that need no later ones."""
        whole = int(heard / self._speed)
        if last:
            return whole
        return min(whole, max(0, ceil((heard - 0.5) / self._speed - 0.5)))

    def _keep(self, mel: Mel) -> None:
        """Keep the frames from the one before the next place on, at least the last."""
        place = (self._given + 0.5) * self._speed - 0.5
        passed = min(max(int(place) - self._dropped, 0), mel.shape[-1] - 1)
        self._kept = mel[:, passed:]
        self._dropped += passed
