"""Run the command line in this process, as `main` would from a shell."""

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from cosykit.cli.main import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder with an empty configuration file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cosykit.yaml").write_text("")
    return tmp_path


@pytest.fixture
def run(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Run a command line; no terminal is attached."""

    def run_command(*arguments: str, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(stdin)))
        with pytest.raises(SystemExit) as exited:
            main(arguments)
        captured = capsys.readouterr()
        code = exited.value.code
        assert code is None or isinstance(code, int)
        return Outcome(code or 0, captured.out, captured.err)

    return run_command
