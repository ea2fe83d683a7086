"""Signed 16-bit samples, and the header that makes a WAV file of them."""

import struct

import numpy as np
from numpy.typing import NDArray

from cosykit.errors import CosykitError
from cosykit.types import Samples

WAV_HEADER_BYTES = 44

_UNKNOWN_SIZE = 0xFFFFFFFF
_RIFF_OVERHEAD_BYTES = WAV_HEADER_BYTES - 8
_RATE_AT = 24
_FULL_SCALE = 32768


def clipped(samples: Samples) -> Samples:
    """Return samples that are safe to encode: float32 in [-1, 1].

    Raises:
        CosykitError: A sample is not a number, or infinite.
    """
    if not np.isfinite(samples).all():
        raise CosykitError(
            "the audio holds values that are not numbers",
            hint="The engine is at fault; `cosykit doctor` checks its model",
        )
    return np.clip(samples, -1, 1).astype(np.float32, copy=False)


def to_pcm16(samples: Samples) -> NDArray[np.int16]:
    """Round samples in [-1, 1] to 16 bits.

    Full scale is 32768, as in every decoder, so that audio that has been 16-bit before
    comes out unchanged; +1 itself becomes 32767.
    """
    scaled = np.rint(samples * _FULL_SCALE)
    return np.clip(scaled, -_FULL_SCALE, _FULL_SCALE - 1).astype("<i2")


def wav_header(sample_rate: int, size_bytes: int | None = None) -> bytes:
    """Build the 44 bytes before the samples of a mono 16-bit WAV file.

    Args:
        sample_rate: Samples a second.
        size_bytes: Length of the samples. None is a stream that has not ended: both
            sizes are then 0xFFFFFFFF, which FFmpeg, browsers, SoX, libsndfile and
            Python's `wave` take as "up to the end". A file over 4 GiB (24 hours at
            24 kHz) cannot say its size either and gets the same.
    """
    riff_size = data_size = _UNKNOWN_SIZE
    if size_bytes is not None and size_bytes + _RIFF_OVERHEAD_BYTES < _UNKNOWN_SIZE:
        riff_size, data_size = size_bytes + _RIFF_OVERHEAD_BYTES, size_bytes
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", riff_size, b"WAVE"),
        *(b"fmt ", 16, 1, 1, sample_rate, sample_rate * 2, 2, 16),
        *(b"data", data_size),
    )


def whole_wav(streamed: bytes) -> bytes:
    """Write the sizes into a WAV that was streamed, once all of it is there."""
    sample_rate = int.from_bytes(streamed[_RATE_AT : _RATE_AT + 4], "little")
    samples = streamed[WAV_HEADER_BYTES:]
    return wav_header(sample_rate, len(samples)) + samples
