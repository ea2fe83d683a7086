"""The examples run as they say, with what protoc makes of speech.proto."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from grpc_tools import protoc

from cosykit.audio.decode import decode_audio
from tests.conftest import ROOT
from tests.patience import PATIENCE_S
from tests.server.conftest import Running

EXAMPLES = ROOT / "examples" / "grpc"
PROTOS = ROOT / "cosykit" / "server" / "grpc"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Examples beside compiled messages."""
    folder = tmp_path_factory.mktemp("grpc")
    for example in EXAMPLES.glob("*.py"):
        shutil.copy(example, folder)
    outputs = (f"--python_out={folder}", f"--grpc_python_out={folder}")
    assert not protoc.main(["protoc", f"-I{PROTOS}", *outputs, "speech.proto"])
    return folder


def run(
    folder: Path, script: str, *args: str, text: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, script, *args],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=3 * PATIENCE_S,
        check=False,
    )


def test_text_is_written_to_a_file(humming: Running, folder: Path) -> None:
    address = f"127.0.0.1:{humming.service.ports['grpc']}"
    done = run(folder, "synthesize.py", address, "hello.mp3", "do re mi")
    assert done.returncode == 0, done.stderr
    samples, rate = decode_audio(folder / "hello.mp3")
    assert samples.size / rate == pytest.approx(6 * 0.08, abs=0.1)


def test_refusal_is_shown(humming: Running, folder: Path) -> None:
    address = f"127.0.0.1:{humming.service.ports['grpc']}"
    done = run(folder, "synthesize.py", address, "hello.ogg", "do")
    assert done.returncode == 1
    assert done.stderr.startswith("INVALID_ARGUMENT: format")


def test_lines_are_spoken_as_they_come(humming: Running, folder: Path) -> None:
    address = f"127.0.0.1:{humming.service.ports['grpc']}"
    done = run(folder, "stream.py", address, "story.wav", text="Do re.\nMi fa.\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["Do", "re.", "Mi", "fa."]
    samples, rate = decode_audio(folder / "story.wav")
    assert samples.size / rate == pytest.approx(10 * 0.08, abs=0.01)
