"""The mel that flows make and vocoders read."""

from dataclasses import dataclass

import numpy as np

from cosykit.audio.features.scale import slaney_filters
from cosykit.audio.features.spectra import frames, hann, power, reflected
from cosykit.types import Mel, Samples

_LEAST = 1e-5


@dataclass(frozen=True, slots=True)
class MelScale:
    """How a model measures a mel.

    Attributes:
        sample_rate: Samples a second.
        fft_size: Samples of a frame.
        hop: Samples from one frame to the next.
        mels: Bands.
        highest_hz: Where the last band ends.
    """

    sample_rate: int
    fft_size: int
    hop: int
    mels: int
    highest_hz: float


COSYVOICE_300M = MelScale(
    sample_rate=22_050, fft_size=1024, hop=256, mels=80, highest_hz=8000
)


def mel(samples: Samples, scale: MelScale) -> Mel:
    """Measure the mel of a recording at the scale's rate, (mels, frames).

    There are as many frames as hops fit into the recording.

    Args:
        samples: At least a frame of them.

    Source: matcha/utils/audio.py mel_spectrogram
    """
    padded = reflected(samples, (scale.fft_size - scale.hop) // 2)
    window = hann(scale.fft_size, periodic=True)
    windowed = frames(padded, scale.fft_size, scale.hop) * window
    magnitudes = np.sqrt(power(windowed, scale.fft_size) + np.float32(1e-9))
    bands = magnitudes @ slaney_filters(
        scale.mels, scale.fft_size, scale.sample_rate, scale.highest_hz
    )
    return np.ascontiguousarray(np.log(np.maximum(bands, np.float32(_LEAST))).T)
