"""Bundles are sealed by their manifest and know when they are broken."""

from pathlib import Path

import pytest

from cosykit.errors import ModelLoadError
from cosykit.hub.bundle import (
    Bundle,
    Manifest,
    read_bundle,
    remove_bundle,
    write_manifest,
)
from cosykit.hub.verify import digest_of


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    graph = tmp_path / "toy" / "int8" / "toy.onnx"
    graph.parent.mkdir(parents=True)
    graph.write_bytes(b"graph")
    manifest = Manifest(
        model="toy",
        source="a test",
        source_files={},
        graphs={"int8/toy.onnx": digest_of(graph)},
        converter="0",
    )
    return write_manifest(tmp_path, manifest)


def test_bundle_is_read_as_it_was_written(bundle: Bundle, tmp_path: Path) -> None:
    again = read_bundle(tmp_path, "toy")
    assert again is not None
    assert again.manifest == bundle.manifest
    assert again.precisions == ("int8",)
    assert again.size_bytes == 5
    again.check()


def test_absent_model_is_none(tmp_path: Path) -> None:
    assert read_bundle(tmp_path, "toy") is None


def test_folder_without_manifest_is_no_model(bundle: Bundle, tmp_path: Path) -> None:
    (bundle.folder / "manifest.json").unlink()
    assert read_bundle(tmp_path, "toy") is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"grape", "SHA-256"), (b"gr", "2 bytes instead of 5"), (None, "missing")],
)
def test_changed_graph_is_found(
    bundle: Bundle, content: bytes | None, problem: str
) -> None:
    graph = bundle.graph("int8", "toy.onnx")
    if content is None:
        graph.unlink()
    else:
        graph.write_bytes(content)
    with pytest.raises(ModelLoadError, match=f"{problem}.*cosykit install toy"):
        bundle.check()


@pytest.mark.parametrize("text", [b"", b"{", b'{"model": 1}', b"\xff"])
def test_broken_manifest_names_the_repair(
    bundle: Bundle, tmp_path: Path, text: bytes
) -> None:
    (bundle.folder / "manifest.json").write_bytes(text)
    with pytest.raises(ModelLoadError, match="cosykit install toy --repair"):
        read_bundle(tmp_path, "toy")


def test_removed_model_is_gone(bundle: Bundle, tmp_path: Path) -> None:
    assert remove_bundle(tmp_path, "toy")
    assert not bundle.folder.exists()
    assert not remove_bundle(tmp_path, "toy")
