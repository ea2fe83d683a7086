"""The Info frame at the start of an MP3 stream, which makes it gapless.

An MP3 encoder puts 576 samples of its own before the audio, a decoder 529 more. This
frame, silent audio to players that do not know it, tells the others how many samples to
drop; once the stream has ended it also tells its length. FFmpeg writes such a frame
only where it can seek back to it, hence ours.

    header │ side information │ "Info" flags [frames] bytes │ "LAME3.100" … delays …
"""

import struct
from dataclasses import dataclass

ENCODER_DELAY = 576
"""Samples that LAME puts before the audio."""

_MPEG1_RATES = (44100, 48000, 32000)
_HAS_FRAMES = 0b01
_HAS_BYTES = 0b10
_UNKNOWN_SIZE = 0xFFFFFFFF
_CONSTANT_BIT_RATE = 1
_MONO_ORIGINAL = 0xC4


@dataclass(frozen=True, slots=True)
class Mpeg:
    """The generation of MPEG audio that a sample rate belongs to.

    Attributes:
        divisor: How often its rates go into those of MPEG-1.
        version: Its bits in a frame header.
        bit_rate: Bits a second that are transparent for speech; 64 kbit/s is the most
            that MPEG-2.5 has.
        bit_rate_index: The same, in a frame header.
        side_bytes: Length of the side information of a mono frame.
        frame_samples: Samples of a frame.
    """

    divisor: int
    version: int
    bit_rate: int
    bit_rate_index: int
    side_bytes: int
    frame_samples: int


_GENERATIONS = (
    Mpeg(1, 0b11, 128_000, 9, 17, 1152),
    Mpeg(2, 0b10, 96_000, 10, 9, 576),
    Mpeg(4, 0b00, 64_000, 8, 9, 576),
)


def mpeg_of(sample_rate: int) -> Mpeg:
    """Find the generation of MPEG audio that has a sample rate."""
    return next(
        mpeg for mpeg in _GENERATIONS if sample_rate * mpeg.divisor in _MPEG1_RATES
    )


def info_frame(sample_rate: int) -> bytes:
    """Build the frame for a stream whose length is not known yet."""
    # FFmpeg takes the frame for audio if it tells neither frames nor bytes.
    length = struct.pack(">II", _HAS_BYTES, _UNKNOWN_SIZE)
    return _frame(sample_rate, length, padding=0)


def final_info_frame(
    sample_rate: int, *, samples: int, frames: int, size_bytes: int
) -> bytes:
    """Build the frame, of the same size, for a stream that has ended.

    Args:
        sample_rate: Samples a second.
        samples: Samples of audio that went into the encoder.
        frames: Frames that came out of it.
        size_bytes: Length of the whole stream with this frame.
    """
    length = struct.pack(">III", _HAS_FRAMES | _HAS_BYTES, frames, size_bytes)
    coded = frames * mpeg_of(sample_rate).frame_samples
    return _frame(sample_rate, length, padding=coded - ENCODER_DELAY - samples)


def _frame(sample_rate: int, length: bytes, padding: int) -> bytes:
    mpeg = mpeg_of(sample_rate)
    rate_index = _MPEG1_RATES.index(sample_rate * mpeg.divisor)
    header = bytes(
        [
            0xFF,
            0xE0 | mpeg.version << 3 | 0b011,
            mpeg.bit_rate_index << 4 | rate_index << 2,
            _MONO_ORIGINAL,
        ]
    )
    side = bytes(mpeg.side_bytes)
    content = header + side + b"Info" + length + _lame_tag(sample_rate, padding)
    content += struct.pack(">H", _crc16(content))
    size_bytes = mpeg.frame_samples // 8 * mpeg.bit_rate // sample_rate
    return content.ljust(size_bytes, b"\0")


def _lame_tag(sample_rate: int, padding: int) -> bytes:
    """Build LAME's extension of the frame, up to its checksum."""
    bit_rate_kbps = mpeg_of(sample_rate).bit_rate // 1000
    return struct.pack(
        ">9s B B 8x x B 3s x x 2x 4x 2x",
        b"LAME3.100",
        _CONSTANT_BIT_RATE,
        sample_rate // 200,  # The highest frequency kept, in units of 100 Hz.
        bit_rate_kbps,
        (ENCODER_DELAY << 12 | padding).to_bytes(3, "big"),
    )


def _crc16(content: bytes) -> int:
    """Compute CRC-16/ARC."""
    crc = 0
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc
