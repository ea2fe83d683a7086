"""The lock of a model passes on cleanly, however its holder ended."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cosykit.hub.lock import install_lock

KILLED = """
import os, signal, sys
from pathlib import Path
from cosykit.hub.atomic import replacing
from cosykit.hub.lock import install_lock

models = Path(sys.argv[1])
with install_lock(models, "it"), replacing(models / "it/int8/graph.onnx") as half:
    half.write_text("half")
    half.with_suffix(".joined.tmp").write_text("half of another")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_holder_was_writing_is_swept_away(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    folder = tmp_path / "it" / "int8"
    (folder / "older.onnx").write_text("whole")
    assert len(list(folder.iterdir())) == 3
    with install_lock(tmp_path, "it"):
        assert [path.name for path in folder.iterdir()] == ["older.onnx"]


def test_what_an_interrupted_holder_was_writing_is_swept_away(tmp_path: Path) -> None:
    half = tmp_path / "it" / "int8" / ".graph.onnx.joined.tmp"
    half.parent.mkdir(parents=True)
    with pytest.raises(SystemExit), install_lock(tmp_path, "it"):
        half.write_text("half")
        raise SystemExit(143)
    assert not half.exists()
