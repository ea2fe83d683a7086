import os
import struct
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cosykit.audio.decode import decode_audio
from cosykit.audio.formats import AudioFormat
from cosykit.errors import InputError, TooLargeError
from tests.audio.signals import RATE, encoded, noise, tone

FORMATS: list[AudioFormat] = ["wav", "mp3", "opus", "aac", "flac"]


def wav(
    samples: NDArray[np.generic], *, rate: int = RATE, channels: int = 1, tag: int = 1
) -> bytes:
    """A WAV file of whatever type the samples have."""
    content = samples.tobytes()
    width = samples.dtype.itemsize
    frame = width * channels
    speed = min(rate * frame, 0xFFFFFFFF)
    form = struct.pack("<HHIIHH", tag, channels, rate, speed, frame % 65536, 8 * width)
    chunks = b"fmt " + struct.pack("<I", 16) + form
    chunks += b"data" + struct.pack("<I", len(content)) + content
    return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WAVE" + chunks


def m4a() -> bytes:
    """An MP4 file; its muxer has to seek."""
    file = BytesIO()
    with av.open(file, "w", "mp4") as container:
        stream = container.add_stream("aac", RATE)
        frame = av.AudioFrame.from_ndarray(tone(1)[np.newaxis], "fltp", "mono")
        frame.sample_rate = RATE
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue()


def surround() -> bytes:
    """AAC of eight channels, which decodes to a plane each."""
    file = BytesIO()
    with av.open(file, "w", "adts") as container:
        stream = container.add_stream("aac", RATE, layout="7.1")
        sides = np.repeat(tone(1), 8)[np.newaxis]
        frame = av.AudioFrame.from_ndarray(sides, "flt", "7.1")
        frame.sample_rate = RATE
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue()


def recorded(container_format: str, codec: str, film: str = "") -> bytes:
    """A file as cameras and other systems make it."""
    file = BytesIO()
    with av.open(file, "w", container_format) as container:
        pictures = container.add_stream(film, 10) if film else None
        sounds = container.add_stream(codec, 48_000, layout="mono")
        if isinstance(pictures, av.VideoStream):
            pictures.width = pictures.height = 32
            black = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8))
            for picture in (*[black] * 10, None):
                container.mux(pictures.encode(picture))
        assert isinstance(sounds, av.AudioStream)
        hum = av.AudioFrame.from_ndarray(tone(1)[np.newaxis], "fltp", "mono")
        hum.sample_rate = RATE
        for sound in (hum, None):
            container.mux(sounds.encode(sound))
    return file.getvalue()


@pytest.mark.parametrize("audio_format", FORMATS)
@pytest.mark.parametrize("as_file", [False, True])
def test_what_we_write_we_can_read(audio_format: AudioFormat, as_file: bool) -> None:
    content = encoded(audio_format, [tone(1)], as_file=as_file)
    samples, rate = decode_audio(content, sample_rate=16_000)
    assert rate == 16_000
    assert samples.dtype == np.float32
    assert 1 <= samples.size / rate < 1.1
    assert np.abs(samples).max() == pytest.approx(0.5, abs=0.05)


def test_a_file_keeps_its_rate_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "speech.wav"
    path.write_bytes(encoded("wav", [tone(1)], sample_rate=44_100))
    samples, rate = decode_audio(path)
    assert (samples.size, rate) == (44_100, 44_100)


def test_an_m4a_file_is_read() -> None:
    samples, rate = decode_audio(m4a())
    assert 1 <= samples.size / rate < 1.1


@pytest.mark.parametrize(
    ("container_format", "codec", "film"),
    [
        ("mp4", "aac", "mpeg4"),
        ("matroska", "ac3", "mpeg4"),
        ("avi", "mp3", "mpeg4"),
        ("mpegts", "aac", "mpeg2video"),
        ("flv", "aac", "flv"),
        ("w64", "pcm_s16le", ""),
        ("caf", "pcm_s16le", ""),
        ("au", "pcm_s16be", ""),
        ("wav", "adpcm_ms", ""),
        ("mp2", "mp2", ""),
        ("aiff", "pcm_s8", ""),
    ],
)
def test_the_sound_of_films_and_of_other_systems_is_read(
    container_format: str, codec: str, film: str
) -> None:
    samples, rate = decode_audio(recorded(container_format, codec, film))
    assert rate == 48_000
    assert 0.9 <= samples.size / rate < 1.1
    assert np.abs(samples).max() == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("kind", "tag"), [("u1", 1), ("<i2", 1), ("<i4", 1), ("<f4", 3), ("<f8", 3)]
)
def test_every_sample_type_gives_the_same_samples(kind: str, tag: int) -> None:
    wanted = tone(0.2)
    width = np.dtype(kind).itemsize
    stored: NDArray[np.generic] = wanted.astype(kind)
    if tag == 1:
        scaled = wanted.astype(np.float64) * (1 << (8 * width - 1))
        stored = np.rint(scaled + 128 * (kind == "u1")).astype(kind)
    samples, _ = decode_audio(wav(stored, tag=tag))
    np.testing.assert_allclose(samples, wanted, atol=1e-2 if kind == "u1" else 1e-4)


@pytest.mark.parametrize("channels", [2, 3, 6, 8, 16])
def test_channels_are_mixed_in_equal_parts(channels: int) -> None:
    parts = np.stack([np.full(1_000, 0.1 * k, "<f4") for k in range(channels)], axis=1)
    samples, _ = decode_audio(wav(parts, channels=channels, tag=3))
    np.testing.assert_allclose(
        samples, np.full(1_000, 0.1 * (channels - 1) / 2), atol=1e-6
    )


def test_planar_stereo_is_mixed_too() -> None:
    file = BytesIO()
    with av.open(file, "w", "adts") as container:
        stream = container.add_stream("aac", RATE, layout="stereo")
        sides = np.stack([tone(1), np.zeros(RATE, np.float32)])
        frame = av.AudioFrame.from_ndarray(sides, "fltp", "stereo")
        frame.sample_rate = RATE
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    samples, _ = decode_audio(file.getvalue())
    assert np.abs(samples).max() == pytest.approx(0.25, abs=0.03)


def test_many_planes_are_mixed_too() -> None:
    samples, _ = decode_audio(surround())
    assert np.abs(samples).max() == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello, this is no audio",
        bytes(10_000),
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"RIFF\xff\xff\xff\xffWAVE",
        wav(np.zeros(0, "<i2")),
        encoded("flac", []),
        wav(noise(1_000))[:43],
        wav(np.zeros(1_000, "<i2"), rate=1),
        wav(np.zeros(1_000, "<i2"), rate=2_000_000_000),
        wav(np.zeros(1_000, "<i2"), channels=0),
        wav(np.zeros(100, "<i2"), channels=60_000),
        wav(np.full(1_000, np.nan, "<f4"), tag=3),
        wav(np.full(1_000, np.inf, "<f8"), tag=3),
        wav(np.array([np.inf, -np.inf] * 500, "<f4"), tag=3, channels=2),
        wav(np.zeros(1_000, "<i2"), tag=0x1234),
        wav(np.zeros(1_000, "<i2"), tag=0x32),  # GSM, which nobody needs
        wav(np.zeros(1_020, "<i2"), channels=17),
    ],
)
def test_a_file_that_is_no_usable_audio_is_a_clear_error(content: bytes) -> None:
    with pytest.raises(InputError) as caught:
        decode_audio(content)
    assert caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    "playlist",
    [
        "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{path}\n#EXT-X-ENDLIST\n",
        "ffconcat version 1.0\nfile {path}\n",
        "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\n"
        "m=audio 5004 RTP/AVP 0\n",
        "[playlist]\nFile1=file://{path}\nNumberOfEntries=1\n",
    ],
)
def test_a_playlist_opens_nothing(playlist: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.wav"
    secret.write_bytes(encoded("wav", [tone(1)]))
    with pytest.raises(InputError):
        decode_audio(playlist.format(path=secret).encode())


def test_a_path_that_cannot_be_read_is_a_clear_error(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.wav"):
        with pytest.raises(InputError, match="cannot read") as caught:
            decode_audio(path)
        assert str(path) in caught.value.message


def test_a_named_pipe_is_refused_and_one_of_a_descriptor_is_read(
    tmp_path: Path,
) -> None:
    content = encoded("wav", [tone(0.5)])
    fifo = tmp_path / "fifo.wav"
    os.mkfifo(fifo)
    (tmp_path / "link.wav").symlink_to(fifo)
    end = os.open(fifo, os.O_RDWR)
    os.write(end, content)  # so that reading it would fail in another way, not hang
    for path in (fifo, tmp_path / "link.wav"):
        with pytest.raises(InputError, match="is a named pipe"):
            decode_audio(path, max_size_bytes=1_000)
    os.close(end)
    reader, writer = os.pipe()
    os.write(writer, content)
    os.close(writer)
    samples, _ = decode_audio(Path(f"/dev/fd/{reader}"))
    os.close(reader)
    assert samples.size == tone(0.5).size


def test_a_large_file_is_refused_before_it_is_all_read() -> None:
    with pytest.raises(TooLargeError, match="larger than 1 MiB"):
        decode_audio(Path("/dev/zero"), max_size_bytes=1 << 20)
    with pytest.raises(TooLargeError, match=r"larger than 0\.5 MiB"):
        decode_audio(bytes(1 << 20), max_size_bytes=1 << 19)


def test_a_small_file_of_endless_silence_is_refused() -> None:
    def hours() -> Iterator[NDArray[np.float32]]:
        for _ in range(600):
            yield np.zeros(RATE, np.float32)

    content = encoded("flac", hours())
    assert len(content) < 1 << 18
    with pytest.raises(TooLargeError, match="longer than 300 s"):
        decode_audio(content)
    with pytest.raises(TooLargeError, match=r"longer than 0\.5 s"):
        decode_audio(encoded("wav", [tone(1)]), max_duration_s=0.5)


def test_a_rate_that_changes_midway_is_an_error() -> None:
    content = encoded("aac", [tone(1)]) + encoded("aac", [tone(1)], sample_rate=16_000)
    with pytest.raises(InputError, match="changes its sample rate"):
        decode_audio(content)


def test_a_damaged_stretch_costs_only_itself() -> None:
    content = bytearray(encoded("mp3", [tone(2)]))
    content[5_000:5_600] = os.urandom(600)
    samples, rate = decode_audio(bytes(content))
    assert samples.size / rate > 1.8


@settings(max_examples=60)
@given(
    audio_format=st.sampled_from(FORMATS),
    end=st.floats(0, 1),
    damage=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=20),
)
def test_damaged_files_give_samples_or_a_clear_error(
    audio_format: AudioFormat, end: float, damage: list[tuple[float, int]]
) -> None:
    content = bytearray(encoded(audio_format, [tone(0.3)]))
    del content[int(end * len(content)) :]
    for place, value in damage:
        if content:
            content[int(place * (len(content) - 1))] = value
    try:
        samples, rate = decode_audio(bytes(content))
    except InputError as error:
        assert error.message
    else:
        assert np.isfinite(samples).all()
        assert np.abs(samples).max(initial=0) <= 1
        assert rate > 0
