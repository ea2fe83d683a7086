"""Read an audio file that a stranger may have made.

The file is read into memory first and FFmpeg sees nothing but those bytes: only the
containers and codecs that people use are allowed, nothing that names other files or
addresses, and the length is bounded, because a few kilobytes of FLAC can be
hours of silence.
"""

import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cosykit.audio.resample import Resampler
from cosykit.errors import InputError, TooLargeError
from cosykit.types import Recording, Samples

if TYPE_CHECKING:
    from av import AudioFrame, Packet
    from av.audio.stream import AudioStream

_CONTAINERS = (
    *("wav", "mp3", "flac", "ogg", "aac", "mov", "matroska", "aiff"),
    *("w64", "caf", "au", "amr", "asf", "avi", "flv", "mpegts"),
)
_DECODERS = (
    *("aac", "alac", "flac", "mp3", "mp3float", "opus", "vorbis"),
    *("mp2", "mp2float", "ac3", "eac3", "wmav1", "wmav2", "amrnb", "amrwb"),
    *("adpcm_ms", "adpcm_ima_wav", "pcm_s8"),
    *("pcm_u8", "pcm_alaw", "pcm_mulaw", "pcm_s16le", "pcm_s16be", "pcm_s24le"),
    *("pcm_s24be", "pcm_s32le", "pcm_s32be", "pcm_f32le", "pcm_f32be", "pcm_f64le"),
)
_MOST_CHANNELS = 16
# PyAV 18 reads beyond the planes of a frame that has eight or more, and crashes.
_MOST_PLANES = 6
_LOWEST_RATE = 4_000
_HIGHEST_RATE = 192_000
_HINT = "Use a WAV, MP3, FLAC, Opus, Ogg, AAC or M4A file"


def decode_audio(
    source: bytes | Path,
    *,
    sample_rate: int | None = None,
    max_duration_s: float = 300.0,
    max_size_bytes: int = 64 << 20,
) -> tuple[Samples, int]:
    """Decode a file to mono samples, shape (samples,), and their rate.

    Damaged stretches are left out, as players do.

    Args:
        source: The content of a file, or its path.
        sample_rate: Samples a second to return; None keeps the file's.
        max_duration_s: Longest audio to accept.
        max_size_bytes: Largest file to accept.

    Raises:
        InputError: The file cannot be read, is no audio, or has no samples.
        TooLargeError: It is larger or longer than allowed.
    """
    content = source if isinstance(source, bytes) else _read(source, max_size_bytes)
    if len(content) > max_size_bytes:
        raise TooLargeError(
            f"the audio file is larger than {max_size_bytes / (1 << 20):g} MiB",
            hint="Use a shorter or compressed file",
        )
    pieces: list[Samples] = []
    resampler: Resampler | None = None
    duration_s, output_rate = 0.0, 0
    for piece, rate in _decoded(content):
        if resampler is None:
            output_rate = sample_rate or rate
            resampler = Resampler(rate, output_rate)
        duration_s += piece.size / rate
        if duration_s > max_duration_s:
            raise TooLargeError(
                f"the audio is longer than {max_duration_s:g} s",
                hint="Cut out the part that is needed",
            )
        pieces.append(resampler.process(piece))
    if resampler is None:
        raise InputError("the audio file has no samples", hint=_HINT)
    pieces.append(resampler.process(np.zeros(0, np.float32), last=True))
    return np.concatenate(pieces), output_rate


def read_recording(
    source: bytes | Path, transcript: str = "", *, max_duration_s: float = 300.0
) -> Recording:
    """Decode a recording of a voice, at its own rate.

    Args:
        transcript: What is said in it; empty if nobody knows.

    Raises:
        InputError: As of `decode_audio`.
    """
    samples, sample_rate = decode_audio(source, max_duration_s=max_duration_s)
    return Recording(samples, sample_rate, transcript)


def _read(path: Path, max_size_bytes: int) -> bytes:
    try:
        # It would keep us waiting for good. A descriptor that is a pipe, as /dev/stdin
        # or <(command) may be, has no path of its own, and is read.
        if Path(os.path.realpath(path)).is_fifo():
            raise InputError(
                f"cannot read the audio file {path}: it is a named pipe",
                hint="Write the audio into a file first",
            )
        with path.open("rb") as file:
            return file.read(max_size_bytes + 1)
    except OSError as error:
        raise InputError(
            f"cannot read the audio file {path}: {error.strerror}",
            hint="Check the path and its permissions",
        ) from error


def _decoded(content: bytes) -> Iterator[tuple[Samples, int]]:
    """Decode the first audio stream, frame by frame, with its one rate."""
    import av

    options = {
        "format_whitelist": ",".join(_CONTAINERS),
        "codec_whitelist": ",".join(_DECODERS),
        "protocol_whitelist": "none",
    }
    rate = 0
    try:
        with av.open(
            BytesIO(content), "r", options=options, metadata_errors="replace"
        ) as container:
            stream = container.streams.audio[0]
            # FFmpeg heeds the list of codecs while it probes, PyAV does not afterwards.
            codec = stream.codec_context
            if not codec or codec.name not in _DECODERS:
                raise InputError("the codec of the file is not supported", hint=_HINT)
            for packet in container.demux(stream):
                for frame in _frames(packet):
                    rate = rate or _checked_rate(frame.sample_rate)
                    if frame.sample_rate != rate:
                        raise InputError(
                            "the audio changes its sample rate midway", hint=_HINT
                        )
                    yield _mono(frame), rate
    except InputError:
        raise
    except (av.FFmpegError, IndexError, ValueError, OverflowError) as error:
        raise InputError("the file is no audio that can be read", hint=_HINT) from error


def _frames(packet: "Packet[AudioStream]") -> "list[AudioFrame]":
    import av

    try:
        return packet.decode()
    except av.error.InvalidDataError:
        return []


def _checked_rate(rate: int) -> int:
    if not _LOWEST_RATE <= rate <= _HIGHEST_RATE:
        raise InputError(
            f"the audio has {rate} samples a second",
            hint=f"Use a file with {_LOWEST_RATE} to {_HIGHEST_RATE}",
        )
    return rate


def _mono(frame: "AudioFrame") -> Samples:
    """Mix the channels of a frame in equal parts, in [-1, 1]."""
    channels = frame.layout.nb_channels
    if not 1 <= channels <= _MOST_CHANNELS:
        raise InputError(
            f"the audio has {channels} channels", hint="Mix it down to mono or stereo"
        )
    if frame.format.is_planar and channels > _MOST_PLANES:
        frame = _packed(frame)
    planes = frame.to_ndarray()
    if not np.isfinite(planes).all():
        raise InputError("the audio holds values that are not numbers", hint=_HINT)
    if not frame.format.is_planar:
        planes = planes.reshape(-1, channels).T
    mixed = planes.mean(axis=0, dtype=np.float64)
    if planes.dtype.kind == "u":
        mixed -= 128
    if planes.dtype.kind in "iu":
        mixed /= 1 << (8 * planes.itemsize - 1)
    samples: Samples = np.clip(mixed, -1, 1).astype(np.float32)
    return samples


def _packed(frame: "AudioFrame") -> "AudioFrame":
    """Lay the samples of all channels into one plane."""
    import av

    packing = av.AudioResampler(format=frame.format.packed, layout=frame.layout)
    (packed,) = packing.resample(frame)
    return packed
