"""Kaldi's filter banks, which networks that know speakers read."""

import numpy as np
from numpy.typing import NDArray

from cosykit.audio.features.scale import kaldi_filters
from cosykit.audio.features.spectra import frames, hann, power
from cosykit.types import Samples

SAMPLE_RATE = 16_000
_FRAME = 400
_HOP = 160
_FFT_SIZE = 512
_BANDS = 80
_LOWEST_HZ = 20.0
_PREEMPHASIS = np.float32(0.97)
_LEAST = np.finfo(np.float32).eps


def fbank(samples: Samples) -> NDArray[np.float32]:
    """Measure a recording of 16,000 samples a second, (frames of 10 ms, 80).

    A recording shorter than 25 ms has no frames.

    Source: torchaudio/compliance/kaldi.py fbank, with 80 bands and without dither
    """
    cut = frames(samples, _FRAME, _HOP)
    centred = cut - cut.mean(axis=1, keepdims=True)
    before = np.concatenate([centred[:, :1], centred[:, :-1]], axis=1)
    window = hann(_FRAME, periodic=False) ** np.float32(0.85)
    windowed = (centred - _PREEMPHASIS * before) * window
    filters = kaldi_filters(_BANDS, _FFT_SIZE, SAMPLE_RATE, _LOWEST_HZ)
    bands: NDArray[np.float32] = power(windowed, _FFT_SIZE) @ filters
    return np.log(np.maximum(bands, _LEAST))
