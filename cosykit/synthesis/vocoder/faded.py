"""Speak a mel in chunks that are faded into each other, as upstream does.

Each chunk begins anew with the last frames of the one before, whose samples were held
back, and takes over the source of them.

Source: cosyvoice/cli/model.py CosyVoiceModel.token2wav
"""

import numpy as np

from cosykit.synthesis.vocoder.chances import Chances
from cosykit.synthesis.vocoder.graphs import FRAME_SAMPLES, Excerpt, HiftGraphs
from cosykit.types import Mel, Samples

_KEPT_FRAMES = 20
_KEPT_SAMPLES = _KEPT_FRAMES * FRAME_SAMPLES


class FadedStream:
    """One utterance."""

    def __init__(self, graphs: HiftGraphs, chances: Chances) -> None:
        self._graphs, self._chances = graphs, chances
        self._mel: Mel | None = None
        self._source = self._tail = np.zeros(0, np.float32)

    def process(self, mel: Mel, *, last: bool) -> Samples:
        """Take the next frames and give the samples that are ready."""
        if self._mel is not None:
            mel = np.concatenate([self._mel, mel], axis=-1)
        if not mel.shape[-1]:
            return self._tail
        source = self._sourced(mel)
        samples = self._faded(self._graphs.decode(Excerpt(mel, source)))
        if last:
            return samples
        self._mel = mel[:, -_KEPT_FRAMES:]
        self._source, self._tail = source[-_KEPT_SAMPLES:], samples[-_KEPT_SAMPLES:]
        return samples[:-_KEPT_SAMPLES]

    def _sourced(self, mel: Mel) -> Samples:
        f0, phases = self._graphs.pitch(mel), self._chances.phases()
        noise = self._chances.noise(f0.size * FRAME_SAMPLES)
        source = self._graphs.source(f0, phases, noise)
        return np.concatenate([self._source, source[self._source.size :]])

    def _faded(self, samples: Samples) -> Samples:
        size = self._tail.size
        # The halves add up to 1.08, not to 1.
        rising, falling = np.split(np.hamming(2 * size).astype(np.float32), 2)
        faded = samples[:size] * rising + self._tail * falling
        return np.concatenate([faded, samples[size:]])
