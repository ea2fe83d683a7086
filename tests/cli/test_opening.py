"""What happens when the model of a command is missing or broken."""

import os
import pty
import select
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Start, everything_from


@pytest.fixture
def broken_lite(folder: Path) -> Path:
    """Have a bundle of the embedded voice whose manifest cannot be read."""
    bundle = folder / "models" / "lite"
    bundle.mkdir(parents=True)
    (bundle / "manifest.json").write_text("{")
    return bundle


@pytest.mark.parametrize(
    "command", [("say", "x"), ("serve", "--port", "0"), ("bench",)]
)
def test_broken_model_names_the_command_that_mends_it(
    run: Run, broken_lite: Path, command: tuple[str, ...]
) -> None:
    outcome = run(*command)
    assert outcome.code == 4
    assert "manifest.json cannot be read" in outcome.err
    assert "Run: cosykit install lite --repair" in outcome.err


@pytest.mark.parametrize("command", [("say", "x"), ("serve", "--port", "0")])
def test_offer_to_install_may_be_declined(
    start: Start, broken_lite: Path, command: tuple[str, ...]
) -> None:
    terminal, end = pty.openpty()
    process = start(*command, stdin=end, stderr=end)
    os.close(end)
    os.write(terminal, b"n\n")
    shown = everything_from(terminal)
    assert process.wait(timeout=20) == 4
    assert "Install lite now? [Y/n]" in shown
    assert "Run: cosykit install lite --repair" in shown


@pytest.mark.parametrize(
    "command", [("say", "x"), ("voices",), ("serve", "--port", "0"), ("bench",)]
)
def test_embedded_voice_that_cannot_be_installed_is_told_once(
    start: Start,
    folder: Path,
    command: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (folder / "elsewhere").symlink_to(folder / "gone" / "models")
    monkeypatch.setenv("COSYKIT_MODELS_DIR", "elsewhere")
    process = start(*command)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 6
    assert error.decode().count("error: ") == 1


def test_terminated_first_run_leaves_no_half_made_model(
    start: Start, folder: Path
) -> None:
    process = start("say", "x")
    while process.poll() is None and not half_made(folder):
        select.select([], [], [], 0.005)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 143
    assert not half_made(folder)
    assert not list(folder.rglob("*.onnx"))


def half_made(folder: Path) -> list[Path]:
    return [*folder.rglob("*.joined"), *folder.rglob("*.tmp")]
