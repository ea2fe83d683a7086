"""The input of speech tokenizers, which is that of Whisper."""

import numpy as np
from numpy.typing import NDArray

from cosykit.audio.features.scale import slaney_filters
from cosykit.audio.features.spectra import frames, hann, power, reflected
from cosykit.types import Samples

SAMPLE_RATE = 16_000
_FFT_SIZE = 400
_HOP = 160
_BANDS = 128


def log_mel(samples: Samples) -> NDArray[np.float32]:
    """Measure a recording of 16,000 samples a second, (128, frames of 10 ms).

    Args:
        samples: More than 200 of them.

    Source: whisper/audio.py log_mel_spectrogram
    """
    padded = reflected(samples, _FFT_SIZE // 2)
    windowed = frames(padded, _FFT_SIZE, _HOP)[:-1] * hann(_FFT_SIZE, periodic=True)
    filters = slaney_filters(_BANDS, _FFT_SIZE, SAMPLE_RATE, SAMPLE_RATE / 2)
    bands = power(windowed, _FFT_SIZE) @ filters
    logs = np.log10(np.maximum(bands, np.float32(1e-10)))
    logs = (np.maximum(logs, logs.max() - 8) + 4) / 4
    return np.ascontiguousarray(logs.T)
