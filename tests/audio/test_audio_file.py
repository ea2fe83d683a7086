import os
import resource
import stat
import subprocess
import sys
import threading
import wave
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from cosykit.audio.file import WrittenAudio, write_audio, write_stream
from cosykit.audio.formats import AUDIO_FORMATS, AudioFormat
from cosykit.errors import InputError, ResourceError
from cosykit.types import AudioChunk
from tests.audio.signals import RATE, chunks, decoded, encoded, endless, tone

NOBODY = 65_534
FULL_DEVICE = Path("/dev/full")


class Speech(Iterator[AudioChunk]):
    """Counts the chunks that were asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def __next__(self) -> AudioChunk:
        self.asked += 1
        return AudioChunk(tone(0.1), RATE)


def failing(error: BaseException, closed: list[bool]) -> Iterator[AudioChunk]:
    try:
        yield AudioChunk(tone(0.5), RATE)
        raise error
    finally:
        closed.append(True)


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Root may write anywhere: become nobody for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("audio_format", AUDIO_FORMATS)
def test_a_file_holds_the_stream_with_its_final_header(
    audio_format: AudioFormat, tmp_path: Path
) -> None:
    path = tmp_path / f"你好 speech.{audio_format}"
    samples = tone(1.3)
    written = write_audio(path, audio_format, chunks(samples))
    assert path.read_bytes() == encoded(audio_format, [samples], as_file=True)
    assert written == WrittenAudio(1.3, path.stat().st_size, RATE)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("audio_format", ["wav", "flac", "mp3", "opus"])
def test_a_file_decodes_to_exactly_what_was_written(
    audio_format: AudioFormat, tmp_path: Path
) -> None:
    path = tmp_path / "speech"
    write_audio(path, audio_format, chunks(tone(1.3)))
    heard, rate = decoded(path.read_bytes())
    assert heard.size == 1.3 * rate


def test_the_sample_rate_can_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "speech.wav"
    written = write_audio(path, "wav", chunks(tone(1)), sample_rate=8_000)
    assert written.sample_rate == 8_000
    with wave.open(str(path)) as file:
        assert (file.getframerate(), file.getnframes()) == (8_000, 8_000)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError(), OSError(5, "x")])
@pytest.mark.parametrize("old", [None, b"an older recording"])
def test_a_broken_run_leaves_the_old_file_and_nothing_else(
    error: BaseException, old: bytes | None, tmp_path: Path
) -> None:
    path = tmp_path / "speech.wav"
    if old is not None:
        path.write_bytes(old)
    closed: list[bool] = []
    with pytest.raises(type(error)) as caught:
        write_audio(path, "wav", failing(error, closed))
    assert caught.value is error
    assert closed
    assert list(tmp_path.iterdir()) == ([path] if old is not None else [])
    assert old is None or path.read_bytes() == old


def test_nothing_to_write_is_an_error_that_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "speech.wav"
    path.write_bytes(b"old")
    with pytest.raises(InputError, match="no audio"):
        write_audio(path, "wav", [])
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_target_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "speech.wav"
    seen = []

    def watched() -> Iterator[AudioChunk]:
        for chunk in chunks(tone(2)):
            yield chunk
            (part,) = tmp_path.iterdir()
            seen.append((path.exists(), part.stat().st_size))

    write_audio(path, "wav", watched())
    assert [size for _, size in seen] == [44 + (i + 1) * RATE for i in range(4)]
    assert not any(exists for exists, _ in seen)


def prepare_missing(folder: Path) -> Path:
    return folder / "missing" / "speech.wav"


def prepare_folder(folder: Path) -> Path:
    return folder


def prepare_file_as_folder(folder: Path) -> Path:
    (folder / "file").touch()
    return folder / "file" / "speech.wav"


def prepare_long_name(folder: Path) -> Path:
    return folder / f"{'长' * 100}.wav"


def prepare_loop(folder: Path) -> Path:
    (folder / "loop").symlink_to(folder / "loop")
    return folder / "loop"


@pytest.mark.parametrize(
    ("prepare", "hint"),
    [
        (prepare_missing, "does not exist"),
        (prepare_folder, "is a folder"),
        (prepare_file_as_folder, "not a folder"),
        (prepare_long_name, "shorter name"),
        (prepare_loop, "another file"),
    ],
)
def test_a_path_that_cannot_be_written_costs_no_synthesis(
    prepare: Callable[[Path], Path], hint: str, tmp_path: Path
) -> None:
    path, speech = prepare(tmp_path), Speech()
    with pytest.raises(ResourceError, match="cannot write") as caught:
        write_audio(path, "wav", speech)
    assert str(path) in caught.value.message
    assert hint in caught.value.hint
    assert speech.asked == 0


@pytest.mark.parametrize("protect", ["folder", "file"])
def test_a_protected_target_is_a_clear_error(protect: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    path = tmp_path / "speech.wav"
    path.write_bytes(b"old")
    path.chmod(0o444 if protect == "file" else 0o666)
    tmp_path.chmod(0o555 if protect == "folder" else 0o777)
    with (
        ordinary_user(),
        pytest.raises(ResourceError, match="Permission denied") as caught,
    ):
        write_audio(path, "wav", Speech())
    assert "may write" in caught.value.hint
    assert path.read_bytes() == b"old"


def test_a_rate_that_the_format_cannot_hold_costs_no_synthesis(tmp_path: Path) -> None:
    speech = Speech()
    with pytest.raises(InputError, match="cannot hold"):
        write_audio(tmp_path / "a.opus", "opus", speech, sample_rate=44_100)
    assert speech.asked == 0


def test_a_full_disk_removes_the_part_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "speech.wav"
    path.write_bytes(b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(ResourceError, match="too large") as caught:
            write_audio(path, "wav", Speech())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.exit_code == 6
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not FULL_DEVICE.exists(), reason="needs /dev/full")
def test_no_space_left_names_the_remedy() -> None:
    with pytest.raises(ResourceError, match="No space left") as caught:
        write_audio(FULL_DEVICE, "wav", Speech())
    assert "Free some disk space" in caught.value.hint


def test_a_link_is_followed_and_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "real.wav", tmp_path / "link.wav"
    link.symlink_to("real.wav")
    for _ in range(2):
        write_audio(link, "wav", chunks(tone(0.5)))
        assert link.is_symlink()
        assert path.stat().st_size == 44 + RATE


def test_permissions_are_those_of_any_new_file_or_of_the_old_one(
    tmp_path: Path,
) -> None:
    path, other = tmp_path / "speech.wav", tmp_path / "other"
    write_audio(path, "wav", chunks(tone(0.1)))
    other.touch()
    assert path.stat().st_mode == other.stat().st_mode
    path.chmod(0o640)
    write_audio(path, "wav", chunks(tone(0.1)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_device_is_written_in_place() -> None:
    written = write_audio(Path("/dev/null"), "wav", chunks(tone(1)))
    assert written.size_bytes == 44 + 2 * RATE
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_named_pipe_is_written_in_place(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(path.read_bytes()))
    reader.start()
    write_audio(path, "wav", chunks(tone(1)))
    reader.join(timeout=10)
    assert received == [encoded("wav", [tone(1)])]
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
def test_standard_output_goes_on_where_the_shell_has_it(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"before")
    code = (
        "from cosykit.audio.file import write_audio\n"
        "from tests.audio.signals import chunks, tone\n"
        f"write_audio({name!r}, 'pcm', chunks(tone(0.1)))\n"
    )
    with path.open("ab") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert path.read_bytes() == b"before" + encoded("pcm", [tone(0.1)])


def test_a_stream_gets_every_chunk_at_once_and_stays_open() -> None:
    sink = BytesIO()
    sizes = []

    def watched() -> Iterator[AudioChunk]:
        for chunk in chunks(tone(2)):
            yield chunk
            sizes.append(len(sink.getvalue()))

    written = write_stream(sink, "wav", watched())
    assert sizes == [44 + (i + 1) * RATE for i in range(4)]
    assert sink.getvalue() == encoded("wav", [tone(2)])
    assert written == WrittenAudio(2, 44 + 4 * RATE, RATE)


def test_a_reader_that_goes_away_ends_the_synthesis() -> None:
    closed: list[bool] = []
    read_end, write_end = os.pipe()
    os.close(read_end)
    with (
        os.fdopen(write_end, "wb", buffering=0) as sink,
        pytest.raises(ResourceError, match="reader of standard output went away"),
    ):
        write_stream(sink, "wav", endless(closed))
    assert closed


def test_a_sink_that_takes_little_at_a_time_gets_everything() -> None:
    class Slow(BytesIO):
        def write(self, content: object) -> int:
            assert isinstance(content, memoryview)
            return super().write(content[:1000])

    sink = Slow()
    write_stream(sink, "pcm", chunks(tone(0.5)))
    assert sink.getvalue() == encoded("pcm", [tone(0.5)])


def test_chunks_without_samples_are_nothing_special(tmp_path: Path) -> None:
    path = tmp_path / "speech.wav"
    empty = AudioChunk(np.zeros(0, np.float32), RATE)
    written = write_audio(path, "wav", [empty, *chunks(tone(0.5)), empty])
    assert written.duration_s == 0.5
