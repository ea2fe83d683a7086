"""Play speech, as it is made, through a player that is on the machine."""

import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from types import MappingProxyType
from typing import IO

from cosykit.audio.file import write_audio, write_stream
from cosykit.errors import ResourceError
from cosykit.types import AudioChunk

_PLAYERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ffplay": ("-nodisp", "-autoexit", "-loglevel", "error", "-i", "pipe:0"),
        "mpv": ("--no-video", "--no-terminal", "-"),
        "aplay": ("-q", "-"),
        "paplay": (),
        "pw-play": ("-",),
    }
)
"""Players that take a WAV stream from standard input, the best first."""

_FILE_PLAYER = "afplay"
"""The player of macOS, which takes only a finished file."""

_PLAYER_HINT = "Check the sound output of this machine, or write a file with -o"


def play(chunks: Iterable[AudioChunk]) -> None:
    """Play audio and wait for its end; a player is looked for before the first chunk.

    Ctrl-C ends the player too. A listener who closes the player ends the work, without
    an error.

    Raises:
        InputError: There are no chunks.
        ResourceError: There is no player, or it fails.
    """
    for name, arguments in _PLAYERS.items():
        program = shutil.which(name)
        if program:
            return _play_stream([program, *arguments], chunks)
    program = shutil.which(_FILE_PLAYER)
    if program:
        return _play_file(program, chunks)
    raise ResourceError(
        "no player was found on this machine",
        hint="Install ffmpeg (it brings ffplay), mpv or alsa-utils, or write a file "
        "with -o",
    )


def _play_stream(command: list[str], chunks: Iterable[AudioChunk]) -> None:
    with _player(command, subprocess.PIPE) as process:
        assert process.stdin
        try:
            write_stream(process.stdin, "wav", chunks, name=command[0])
        except ResourceError as error:
            if not isinstance(error.__cause__, BrokenPipeError):
                raise
        process.stdin.close()


def _play_file(program: str, chunks: Iterable[AudioChunk]) -> None:
    with TemporaryDirectory(prefix="cosykit-") as folder:
        path = Path(folder) / "speech.wav"
        write_audio(path, "wav", chunks)
        with _player([program, str(path)], subprocess.DEVNULL):
            pass


@contextmanager
def _player(command: list[str], stdin: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run a player; wait for it if the block ends well, and kill it otherwise."""
    name = Path(command[0]).name
    with TemporaryFile() as complaints:
        with _started(command, stdin, complaints) as process:
            try:
                yield process
                process.wait()
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            raise ResourceError(
                f"{name} failed: {_last_line(complaints)}", hint=_PLAYER_HINT
            )


def _started(
    command: list[str], stdin: int, complaints: IO[bytes]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603  (a known player, no outside words)
            command,
            # Unbuffered: closing a full buffer would fail once more if it has gone.
            bufsize=0,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
        )
    except OSError as error:
        raise ResourceError(
            f"cannot start {command[0]}: {error.strerror}", hint=_PLAYER_HINT
        ) from error


def _last_line(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    lines = complaints.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "no reason")
