"""What is heavy is not imported by the product while it works, wherever it is there."""

import os
import re
import signal
from pathlib import Path

import httpx
import pytest

from cosykit.audio.file import write_audio
from cosykit.convert.synthetic import write_release
from cosykit.types import AudioChunk
from tests.cli.conftest import Start
from tests.cli.test_commands import health
from tests.synthesis.voice.signals import speech
from tests.test_architecture import NEVER

MODEL = "cosyvoice-300m-instruct"


@pytest.fixture
def trapped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have packages that must not be imported note it where they are; give the notes.

    Packages of others that would use them if they were there count as well.
    """
    traps, notes = folder / "traps", folder / "notes"
    traps.mkdir()
    for name in NEVER:
        content = f"open({str(notes)!r}, 'a').write(__name__ + ' ')\n"
        (traps / f"{name}.py").write_text(content)
    found = [str(traps), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(found))
    notes.touch()
    return notes


def test_installing_and_speaking_import_nothing_heavy(
    start: Start, folder: Path, trapped: Path
) -> None:
    write_release(folder / "release", "tiny")
    write_audio(folder / "ref.wav", "wav", [AudioChunk(speech(3), 16_000)])
    clone = ("--prompt-audio", "ref.wav", "--prompt-text", "今天天气很好")
    for command in (
        ("install", MODEL, "--from", "release"),
        ("say", "你好, hello, こんにちは, 안녕.", *clone),
        ("vc", "ref.wav", "--voice", "zh_male"),
    ):
        process = start(*command)
        _, error = process.communicate(timeout=60)
        assert process.returncode == 0, error
    assert not trapped.read_text()


@pytest.mark.parametrize("model", [MODEL, "lite"])
def test_server_imports_nothing_heavy(
    start: Start,
    trapped: Path,
    cosyvoice_models: Path,
    lite_models: Path,
    model: str,
) -> None:
    folder = lite_models if model == "lite" else cosyvoice_models
    server = start("serve", "-p0", "--model", model, "--models-dir", str(folder))
    assert server.stderr
    found = re.search(r"http://[\d.:]+", server.stderr.readline().decode())
    assert found
    assert health(found[0], server) == 200
    body = {"input": "你好, hello, こんにちは.", "response_format": "mp3"}
    answer = httpx.post(f"{found[0]}/v1/audio/speech", json=body, timeout=60)
    assert answer.status_code == 200
    server.send_signal(signal.SIGTERM)
    server.communicate(timeout=20)
    assert not trapped.read_text()
