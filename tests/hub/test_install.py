"""Installing is done once, mends what is broken, and leaves nothing half done."""

import subprocess
import sys
from pathlib import Path

import pytest

from cosykit.errors import NotFoundError, ResourceError
from cosykit.hub.bundle import write_manifest
from cosykit.ops.install import install


def test_second_install_leaves_all_as_it_is(lite_models: Path) -> None:
    graph = lite_models / "lite" / "int8" / "kokoro.onnx"
    before = graph.stat().st_mtime_ns
    assert install("lite", lite_models).action == "present"
    assert graph.stat().st_mtime_ns == before


def test_broken_graph_is_repaired(tmp_path: Path) -> None:
    assert install("lite", tmp_path).action == "installed"
    graph = tmp_path / "lite" / "int8" / "kokoro.onnx"
    whole = graph.read_bytes()
    graph.write_bytes(b"broken" + whole[6:])
    assert install("lite", tmp_path).action == "repaired"
    assert graph.read_bytes() == whole
    assert [path.name for path in graph.parent.iterdir()] == ["kokoro.onnx"]


def test_graph_of_an_older_cosykit_is_made_anew(tmp_path: Path) -> None:
    bundle = install("lite", tmp_path).bundle
    older = bundle.manifest.model_copy(update={"graphs_version": 0})
    write_manifest(tmp_path, older)
    assert install("lite", tmp_path).action == "repaired"
    assert install("lite", tmp_path).action == "present"


def test_unknown_model_names_the_known(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="lite"):
        install("lita", tmp_path)


def test_full_disk_is_told_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from collections import namedtuple

    usage = namedtuple("usage", ("total", "used", "free"))
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage(1, 1, 10 << 20))
    with pytest.raises(ResourceError, match="10 MB are free"):
        install("lite", tmp_path)
    assert not (tmp_path / "lite").exists()


def test_killed_install_is_taken_up_again(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cosykit", "install", "lite"]
    killed = subprocess.Popen(
        [*command, "--models-dir", str(tmp_path)], stderr=subprocess.PIPE
    )
    assert killed.stderr is not None
    for line in killed.stderr:
        if b"Joining" in line:
            break
    killed.kill()
    killed.communicate()
    assert not (tmp_path / "lite" / "manifest.json").exists()
    assert install("lite", tmp_path).action == "installed"
