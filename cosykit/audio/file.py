"""Write speech to a file, a special file or a stream, as it is made.

A regular file appears whole or not at all: it is written beside its target under a name
of its own, flushed to the disk, and moved into place. Whatever goes wrong before that,
Ctrl-C too, removes it and leaves an older target as it was.
"""

import os
import re
import stat
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import (
    EACCES,
    EDQUOT,
    EFBIG,
    EISDIR,
    ENAMETOOLONG,
    ENOENT,
    ENOSPC,
    ENOTDIR,
    EPERM,
    EROFS,
)
from itertools import chain
from pathlib import Path
from typing import IO
from uuid import uuid4

from cosykit.audio.encode import Encoder
from cosykit.audio.formats import AudioFormat, checked_rate
from cosykit.errors import InputError, ResourceError
from cosykit.types import AudioChunk

_HINTS = {
    ENOSPC: "Free some disk space, or write to another disk",
    EDQUOT: "Your disk quota is used up: free some space, or write to another disk",
    EFBIG: "The file system or a `ulimit -f` allows no larger file",
    EACCES: "Choose a folder that you may write to",
    EPERM: "Choose a folder that you may write to",
    EROFS: "The disk is read-only: choose another folder",
    EISDIR: "It is a folder: name a file in it",
    ENAMETOOLONG: "Choose a shorter name",
    ENOENT: "The folder does not exist: create it first",
    ENOTDIR: "A part of the path is not a folder",
}

_DESCRIPTOR = re.compile(r"(?:/dev|/proc/(?:self|\d+))/fd/(\d+)")


@dataclass(frozen=True, slots=True)
class WrittenAudio:
    """What was written.

    Attributes:
        duration_s: Length of the speech in seconds, without a codec's padding.
        size_bytes: Bytes written.
        sample_rate: Samples a second in the file.
    """

    duration_s: float
    size_bytes: int
    sample_rate: int


def write_audio(
    path: str | Path,
    audio_format: AudioFormat,
    chunks: Iterable[AudioChunk],
    *,
    sample_rate: int | None = None,
) -> WrittenAudio:
    """Write a file as its audio is made; `/dev/stdout` and pipes are written in place.

    The file is opened before the first chunk is asked for, so that a path that cannot
    be written costs no synthesis. Headers get their real lengths. The chunks are closed
    in any case.

    Args:
        path: The file; a symbolic link is followed.
        audio_format: What to write.
        chunks: The audio, all of one sample rate.
        sample_rate: Samples a second to write; None keeps the audio's.

    Raises:
        InputError: The format cannot hold the rate, or there are no chunks.
        ResourceError: The file cannot be written.
    """
    if sample_rate is not None:
        checked_rate(audio_format, sample_rate)
    with _closing(chunks):
        with _naming(path):
            in_place = _open_special(Path(path))
        if in_place is not None:
            with in_place as sink:
                return _pour(sink, audio_format, chunks, sample_rate, path)[0]
        with _replacement(Path(path)) as sink:
            written, header = _pour(sink, audio_format, chunks, sample_rate, path)
            sink.seek(0)
            _write(sink, header, path)
            return written


def write_stream(
    sink: IO[bytes],
    audio_format: AudioFormat,
    chunks: Iterable[AudioChunk],
    *,
    sample_rate: int | None = None,
    name: str | Path = "standard output",
) -> WrittenAudio:
    """Write to an open stream that need not seek, flushing it after every chunk.

    Args:
        sink: Where to write; it stays open.
        audio_format: What to write.
        chunks: The audio, all of one sample rate; closed in any case.
        sample_rate: Samples a second to write; None keeps the audio's.
        name: What messages call the sink.

    Raises:
        InputError: The format cannot hold the rate, or there are no chunks.
        ResourceError: The sink cannot be written, or its reader went away.
    """
    with _closing(chunks):
        return _pour(sink, audio_format, chunks, sample_rate, name)[0]


def _pour(
    sink: IO[bytes],
    audio_format: AudioFormat,
    chunks: Iterable[AudioChunk],
    sample_rate: int | None,
    name: str | Path,
) -> tuple[WrittenAudio, bytes]:
    """Encode all chunks into the sink; returns the final header too."""
    source = iter(chunks)
    first = next(source, None)
    if first is None:
        raise InputError("there is no audio to write", hint="Give some text to speak")
    size_bytes, duration_s = 0, 0.0
    with Encoder(
        audio_format, input_rate=first.sample_rate, sample_rate=sample_rate
    ) as encoder:
        for chunk in chain([first], source):
            size_bytes += _write(sink, encoder.encode(chunk.samples), name)
            duration_s += chunk.duration_s
        size_bytes += _write(sink, encoder.finish(), name)
        written = WrittenAudio(duration_s, size_bytes, encoder.sample_rate)
        return written, encoder.header()


def _write(sink: IO[bytes], content: bytes, name: str | Path) -> int:
    unwritten = memoryview(content)
    with _naming(name):
        while unwritten:
            unwritten = unwritten[sink.write(unwritten) :]
        sink.flush()
    return len(content)


@contextmanager
def _replacement(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file that takes the place of the named one if the block ends well."""
    with _naming(path):
        target = path.resolve()
        mode = _mode_of(target)
    temporary = target.with_name(f".cosykit-{uuid4().hex}.part")
    try:
        with _naming(path):
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        # Unbuffered: closing a full buffer would fail on a full disk once more.
        with os.fdopen(descriptor, "wb", buffering=0) as sink:
            yield sink
            with _naming(path):
                os.fsync(descriptor)
        with _naming(path):
            temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _mode_of(target: Path) -> int:
    """Return the permissions of the new file: those of an older one if it is there."""
    if not target.exists():
        return 0o666
    if not os.access(target, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES))
    return stat.S_IMODE(target.stat().st_mode)


def _open_special(path: Path) -> IO[bytes] | None:
    """Open a pipe, a device or a descriptor in place; None for a regular file."""
    descriptor = _descriptor(path)
    if descriptor is not None:
        # Opened by name, a descriptor that leads to a file would start it anew.
        return os.fdopen(os.dup(descriptor), "wb", buffering=0)
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    return None if stat.S_ISREG(kind) else path.open("wb", buffering=0)


def _descriptor(path: Path) -> int | None:
    """Tell which open descriptor a path such as `/dev/stdout` stands for."""
    for _link in range(8):
        found = _DESCRIPTOR.fullmatch(str(path.absolute()))
        if found:
            return int(found[1])
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()
    return None


@contextmanager
def _closing(chunks: Iterable[AudioChunk]) -> Iterator[None]:
    """End the work behind the chunks, too, when the block ends."""
    try:
        yield
    finally:
        if isinstance(chunks, Generator):
            chunks.close()


@contextmanager
def _naming(name: str | Path) -> Iterator[None]:
    """Translate a failure of the system to write something."""
    try:
        yield
    except BrokenPipeError as error:
        raise ResourceError(
            f"the reader of {name} went away before the end",
            hint="The audio it got is not complete",
        ) from error
    except OSError as error:
        raise ResourceError(
            f"cannot write {name}: {error.strerror or error}",
            hint=_HINTS.get(error.errno or 0, "Write to another file"),
        ) from error
