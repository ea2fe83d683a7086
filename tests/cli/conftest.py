"""Run the command line in this process, as a shell would, or in one of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from cosykit.cli.main import main
from tests.conftest import EXAMPLE


@dataclass(frozen=True)
class Outcome:
    code: int
    out_bytes: bytes
    err: str

    @property
    def out(self) -> str:
        return self.out_bytes.decode()


Run = Callable[..., Outcome]
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder with an empty configuration file, and models there."""
    for variable in [name for name in os.environ if name.startswith("COSYKIT_")]:
        monkeypatch.delenv(variable)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    (work / "cosykit.yaml").write_text("")
    monkeypatch.setenv("COSYKIT_MODELS_DIR", str(work / "models"))
    return work


@pytest.fixture
def run(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Run:
    """Run a command line; no terminal is attached."""
    handlers = {n: signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGHUP)}

    def run_command(*arguments: str, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(stdin)))
        with pytest.raises(SystemExit) as exited:
            main(arguments)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        captured = capsysbinary.readouterr()
        code = exited.value.code
        assert code is None or isinstance(code, int)
        return Outcome(code or 0, captured.out, captured.err.decode())

    return run_command


@pytest.fixture
def tone(example_plugin: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Speak with the example engine, which hums 0.08 s a letter; give the folder."""
    monkeypatch.setenv("PYTHONPATH", f"{EXAMPLE}{os.pathsep}{example_plugin}")
    monkeypatch.setenv("COSYKIT_MODEL", "tone")
    return folder


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """Start command lines in processes of their own; none outlives the test."""
    with ExitStack() as stack:

        def start_command(
            *arguments: str,
            stdin: int = subprocess.DEVNULL,
            stdout: int = subprocess.PIPE,
            stderr: int = subprocess.PIPE,
        ) -> "subprocess.Popen[bytes]":
            command = [sys.executable, "-m", "cosykit", *arguments]
            process = subprocess.Popen(
                command, stdin=stdin, stdout=stdout, stderr=stderr
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield start_command


def everything_from(terminal: int) -> str:
    """Read a terminal until its other end is closed."""
    content = b""
    try:
        while piece := os.read(terminal, 4096):
            content += piece
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(terminal)
    return content.decode()
