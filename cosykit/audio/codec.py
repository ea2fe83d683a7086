"""The two kinds of writers under `Encoder`: plain samples, and FFmpeg's codecs.

Both take samples in [-1, 1] at their own rate. Neither ever seeks: `header` gives the
start of a file once more, with what only the end could tell.
"""

from dataclasses import dataclass, field
from hashlib import md5
from typing import TYPE_CHECKING, Literal

import numpy as np

from cosykit.audio.mp3_info import final_info_frame, info_frame, mpeg_of
from cosykit.audio.pcm import to_pcm16, wav_header
from cosykit.types import Samples

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.packet import Packet

CodedFormat = Literal["mp3", "opus", "aac", "flac"]

# More than this a channel of Opus cannot hold.
_MOST_OPUS_BITS = 256_000
_FLAC_START = b"fLaC" + bytes([0, 0, 0, 34])
_FLAC_MD5_AT = 18
_FLAC_BLOCKS_A_SECOND = 25


class PlainWriter:
    """Writes 16-bit samples, for `wav` after a header."""

    def __init__(self, sample_rate: int, *, with_header: bool) -> None:
        self._sample_rate = sample_rate
        self._with_header = with_header
        self._size_bytes = 0
        self._unsent = wav_header(sample_rate) if with_header else b""

    def write(self, samples: Samples) -> bytes:
        """Take samples and return their bytes."""
        content = to_pcm16(samples).tobytes()
        self._size_bytes += len(content)
        content, self._unsent = self._unsent + content, b""
        return content

    def finish(self) -> bytes:
        """Return what is left, which is the header where there were no samples."""
        return self.write(np.zeros(0, np.float32))

    def header(self) -> bytes:
        """Return the header with the real sizes."""
        if not self._with_header:
            return b""
        return wav_header(self._sample_rate, self._size_bytes)

    def close(self) -> None:
        """Do nothing: there is nothing to free."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How FFmpeg is to write a format.

    Attributes:
        container: Name of its muxer.
        codec: Name of its encoder.
        sample_format: What the encoder takes.
        bit_rate: Bits a second; None for a lossless codec.
        muxer_options: Options of the muxer.
        codec_options: Options of the encoder.
    """

    container: str
    codec: str
    sample_format: Literal["flt", "fltp", "s16"]
    bit_rate: int | None = None
    muxer_options: dict[str, str] = field(default_factory=dict)
    codec_options: dict[str, str] = field(default_factory=dict)


def recipe_for(
    audio_format: CodedFormat, sample_rate: int, opus_bit_rate: int | None = None
) -> Recipe:
    """Choose the codec and settings of a format: low delay, transparent for speech."""
    match audio_format:
        case "mp3":
            return Recipe(
                container="mp3",
                codec="libmp3lame",
                sample_format="fltp",
                bit_rate=mpeg_of(sample_rate).bit_rate,
                muxer_options={"write_xing": "0", "id3v2_version": "0"},
                # Without the bit reservoir a frame comes out one frame (24 ms) sooner.
                codec_options={"reservoir": "0"},
            )
        case "opus":
            bit_rate = opus_bit_rate or (32_000 if sample_rate < 24_000 else 64_000)
            return Recipe(
                container="ogg",
                codec="libopus",
                sample_format="flt",
                bit_rate=min(bit_rate, _MOST_OPUS_BITS),
                # A page of one packet; the muxer would gather a second of them.
                muxer_options={"page_duration": "20000"},
            )
        case "aac":
            # The codec takes at most 6 bits a sample.
            bit_rate = min(96_000, 4 * sample_rate)
            return Recipe(
                container="adts", codec="aac", sample_format="fltp", bit_rate=bit_rate
            )
        case "flac":
            # Blocks of 40 ms; FFmpeg's own 96 ms make no smaller files of speech.
            block = str(sample_rate // _FLAC_BLOCKS_A_SECOND)
            return Recipe(
                container="flac",
                codec="flac",
                sample_format="s16",
                muxer_options={"metadata_header_padding": "0"},
                codec_options={"frame_size": block},
            )


class _Sink:
    """Collects what a muxer writes; cannot seek."""

    def __init__(self) -> None:
        self._content = bytearray()

    def write(self, content: bytes) -> int:
        self._content += content
        return len(content)

    def take(self) -> bytes:
        content = bytes(self._content)
        self._content.clear()
        return content


class CodedWriter:
    """Writes a compressed format with FFmpeg."""

    def __init__(
        self,
        audio_format: CodedFormat,
        sample_rate: int,
        opus_bit_rate: int | None = None,
    ) -> None:
        import av
        from av.audio.stream import AudioStream

        recipe = recipe_for(audio_format, sample_rate, opus_bit_rate)
        self._format = audio_format
        self._sample_rate = sample_rate
        self._pending: list[Samples] = []
        self._pending_size = 0
        self._samples = self._frames = self._size_bytes = 0
        self._md5 = md5(usedforsecurity=False)
        self._sink = _Sink()
        # Bit-exact leaves out version strings and random serial numbers: the same
        # samples give the same bytes.
        options = {"flush_packets": "1", "fflags": "+bitexact"} | recipe.muxer_options
        self._container = av.open(self._sink, "w", recipe.container, options=options)
        stream = self._container.add_stream(
            recipe.codec, sample_rate, options=recipe.codec_options
        )
        assert isinstance(stream, AudioStream)
        self._stream = stream
        codec = stream.codec_context
        codec.format = recipe.sample_format
        codec.layout = "mono"
        if recipe.bit_rate is not None:
            codec.bit_rate = recipe.bit_rate
        if audio_format == "mp3":
            self._sink.write(info_frame(sample_rate))
        self._container.start_encoding()

    def write(self, samples: Samples) -> bytes:
        """Take samples and return the frames that are complete."""
        self._samples += samples.size
        self._pending_size += samples.size
        self._pending.append(samples)
        frame_size = self._stream.codec_context.frame_size
        if self._pending_size >= frame_size:
            joined = np.concatenate(self._pending)
            whole = joined.size - joined.size % frame_size
            self._encode(joined[:whole])
            self._pending = [joined[whole:]]
            self._pending_size -= whole
        return self._taken()

    def finish(self) -> bytes:
        """Return the last frames and the end of the container."""
        if self._samples == 0 and self._format != "flac":
            # The others cannot say that they are empty: FFmpeg then finds no audio.
            self.write(np.zeros(1, np.float32))
        if self._pending_size:
            self._encode(np.concatenate(self._pending))
        self._mux(self._stream.encode(None))
        self._container.close()
        return self._taken()

    def header(self) -> bytes:
        """Return the start of the file with its length and checksum."""
        match self._format:
            case "mp3":
                return final_info_frame(
                    self._sample_rate,
                    samples=self._samples,
                    frames=self._frames,
                    size_bytes=self._size_bytes,
                )
            case "flac":
                # The encoder keeps its stream information up to date, but for the
                # checksum, which FFmpeg spoils when it drains the encoder twice.
                info = self._stream.codec_context.extradata or b""
                return _FLAC_START + info[:_FLAC_MD5_AT] + self._md5.digest()
            case "opus" | "aac":
                return b""

    def close(self) -> None:
        """Free encoder and muxer."""
        self._container.close()

    def _encode(self, samples: Samples) -> None:
        from av import AudioFrame

        if self._format == "flac":
            pcm = to_pcm16(samples)
            self._md5.update(pcm.tobytes())
            frame = AudioFrame.from_ndarray(pcm[np.newaxis], "s16", "mono")
        else:
            sample_format = self._stream.codec_context.format.name
            frame = AudioFrame.from_ndarray(samples[np.newaxis], sample_format, "mono")
        frame.sample_rate = self._sample_rate
        self._mux(self._stream.encode(frame))

    def _mux(self, packets: "list[Packet[AudioStream]]") -> None:
        self._frames += len(packets)
        self._container.mux(packets)

    def _taken(self) -> bytes:
        content = self._sink.take()
        self._size_bytes += len(content)
        return content
