"""Triangular filters that overlap by halves on a scale of pitch."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
_Doubles = NDArray[np.float64]

# Slaney's scale is linear up to 1000 Hz and logarithmic above.
_LINEAR_HZ = 200 / 3
_BREAK_HZ = 1000.0
_BREAK_MEL = _BREAK_HZ / _LINEAR_HZ
_LOG_STEP = np.log(6.4) / 27


def slaney_filters(
    filters: int, fft_size: int, sample_rate: int, highest_hz: float
) -> Array:
    """Make filters of equal area from 0 Hz up, (fft_size / 2 + 1, filters).

    Source: librosa/filters.py mel, with its defaults
    """
    edges = _slaney_hz(np.linspace(0, _slaney_mel(highest_hz), filters + 2))
    triangles = _triangles(_frequencies(fft_size, sample_rate), edges)
    return (triangles * (2 / (edges[2:] - edges[:-2]))).astype(np.float32)


def kaldi_filters(
    filters: int, fft_size: int, sample_rate: int, lowest_hz: float
) -> Array:
    """Make filters of equal height up to half the rate, (fft_size / 2 + 1, filters).

    Source: torchaudio/compliance/kaldi.py get_mel_banks
    """
    lowest, highest = _kaldi_mel(np.array([lowest_hz, sample_rate / 2])).tolist()
    edges = np.linspace(lowest, highest, filters + 2)
    positions = _kaldi_mel(_frequencies(fft_size, sample_rate))
    return _triangles(positions, edges).astype(np.float32)


def _frequencies(fft_size: int, sample_rate: int) -> _Doubles:
    return np.linspace(0.0, sample_rate / 2, fft_size // 2 + 1)


def _triangles(positions: _Doubles, edges: _Doubles) -> _Doubles:
    """Rise from each edge to the next and fall to the one after, (positions, n)."""
    widths = np.diff(edges)
    distances = positions[:, None] - edges
    rising = distances[:, :-2] / widths[:-1]
    falling = -distances[:, 2:] / widths[1:]
    return np.maximum(0, np.minimum(rising, falling))


def _slaney_mel(hz: float) -> float:
    if hz < _BREAK_HZ:
        return hz / _LINEAR_HZ
    return float(_BREAK_MEL + np.log(hz / _BREAK_HZ) / _LOG_STEP)


def _slaney_hz(mel: _Doubles) -> _Doubles:
    above = _BREAK_HZ * np.exp(_LOG_STEP * (mel - _BREAK_MEL))
    return np.where(mel < _BREAK_MEL, mel * _LINEAR_HZ, above)


def _kaldi_mel(hz: _Doubles) -> _Doubles:
    return 1127 * np.log1p(hz / 700)
