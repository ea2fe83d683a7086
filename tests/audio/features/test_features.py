"""Features of a recording, held to those of the official front end."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.audio.features.fbank import fbank
from cosykit.audio.features.mel import COSYVOICE_300M, MelScale, mel
from cosykit.audio.features.whisper import log_mel
from cosykit.types import Samples

OFFICIAL = np.load(Path(__file__).with_name("official.npz"))


def recording(sample_rate: int, duration_s: float = 1.7) -> Samples:
    """The voice-like signal that the official features were taken of."""
    times = np.arange(int(sample_rate * duration_s)) / sample_rate
    pitch = 140 + 40 * np.sin(2 * np.pi * 1.3 * times)
    phase = 2 * np.pi * np.cumsum(pitch) / sample_rate
    harmonics = np.sum([np.sin(n * phase) / n for n in range(1, 12)], axis=0)
    loudness = 0.55 + 0.45 * np.sin(2 * np.pi * 2.1 * times)
    noise = np.random.RandomState(3).standard_normal(times.size)
    signal: Samples = (0.2 * (harmonics * loudness + 0.05 * noise)).astype(np.float32)
    return signal


def distance(features: NDArray[np.float32], name: str) -> float:
    official = OFFICIAL[name]
    assert features.shape == official.shape
    assert features.dtype == np.float32
    return float(np.abs(features - official).max())


@pytest.mark.parametrize(
    ("scale", "name"),
    [
        (COSYVOICE_300M, "mel_v1"),
        (MelScale(24_000, 1920, 480, 80, 8_000), "mel_v2"),
        (MelScale(24_000, 1920, 480, 80, 12_000), "mel_v3"),
    ],
)
def test_mel_is_the_official_one_on_every_scale(scale: MelScale, name: str) -> None:
    assert distance(mel(recording(scale.sample_rate), scale), name) < 1e-4


def test_filter_banks_are_those_of_kaldi() -> None:
    assert distance(fbank(recording(16_000)), "fbank") < 1e-3


def test_log_mel_is_that_of_whisper() -> None:
    assert distance(log_mel(recording(16_000)), "whisper128") < 1e-4


def test_silence_gives_finite_features() -> None:
    silence = np.zeros(16_000, np.float32)
    for features in (mel(silence, COSYVOICE_300M), fbank(silence), log_mel(silence)):
        assert np.isfinite(features).all()


@pytest.mark.parametrize(
    ("samples", "frames"), [(399, 0), (400, 1), (559, 1), (560, 2)]
)
def test_filter_banks_have_whole_frames_only(samples: int, frames: int) -> None:
    assert fbank(recording(16_000)[:samples]).shape == (frames, 80)


@pytest.mark.parametrize("samples", [16_000, 16_159, 16_160])
def test_log_mel_has_a_frame_for_every_ten_milliseconds(samples: int) -> None:
    assert log_mel(recording(16_000)[:samples]).shape == (128, samples // 160)


@pytest.mark.parametrize("samples", [22_050, 22_015, 22_016])
def test_mel_has_a_frame_for_every_hop(samples: int) -> None:
    features = mel(recording(22_050)[:samples], COSYVOICE_300M)
    assert features.shape == (80, samples // 256)
    assert features.flags.c_contiguous
