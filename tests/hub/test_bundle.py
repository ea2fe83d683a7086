"""Bundles are sealed by their manifest and know when they are broken."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import pytest

from cosykit.errors import ModelLoadError, NotFoundError
from cosykit.hub import bundle as bundle_module
from cosykit.hub.bundle import (
    Bundle,
    Manifest,
    own_models,
    read_bundle,
    remove_bundle,
    seal,
    spec_of,
    write_manifest,
)
from cosykit.hub.lock import install_lock
from cosykit.hub.verify import FileDigest, digest_of
from cosykit.spec import COSYVOICE_300M_SFT, LITE, Level, ModelFacts


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


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_graph_that_cannot_be_read_is_broken(bundle: Bundle, tmp_path: Path) -> None:
    """Not even root may read another's memory from its start."""
    graph = bundle.graph("int8", "toy.onnx")
    graph.unlink()
    graph.symlink_to("/proc/self/mem")
    none = FileDigest(0, "0" * 64)
    graphs = {"graphs": {"int8/toy.onnx": none}}
    bundle = write_manifest(tmp_path, bundle.manifest.model_copy(update=graphs))
    with pytest.raises(ModelLoadError, match="cannot be read: Input/output error"):
        bundle.check()
    assert not bundle.problems(by_size=True)


def test_manifest_of_a_later_version_is_said_to_be_one(
    bundle: Bundle, tmp_path: Path
) -> None:
    path = bundle.folder / "manifest.json"
    later = {**json.loads(path.read_text()), "schema_version": 2, "news": 1}
    path.write_text(json.dumps(later))
    with pytest.raises(ModelLoadError, match="is of another CosyKit"):
        read_bundle(tmp_path, "toy")


@pytest.mark.parametrize("text", [b"", b"{", b'{"model": 1}', b"\xff"])
def test_broken_manifest_names_the_repair(
    bundle: Bundle, tmp_path: Path, text: bytes
) -> None:
    (bundle.folder / "manifest.json").write_bytes(text)
    with pytest.raises(ModelLoadError, match="cosykit convert DIR --name toy"):
        read_bundle(tmp_path, "toy")
    bundle.folder.rename(tmp_path / "lite")
    with pytest.raises(ModelLoadError, match="cosykit install lite --repair"):
        read_bundle(tmp_path, "lite")


def test_removed_model_is_gone(bundle: Bundle, tmp_path: Path) -> None:
    assert remove_bundle(tmp_path, "toy")
    assert not bundle.folder.exists()
    assert not remove_bundle(tmp_path, "toy")


def test_model_that_is_half_removed_is_none(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(folder: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bundle_module, "delete_folder", killed)
    with pytest.raises(KeyboardInterrupt):
        remove_bundle(tmp_path, "toy")
    assert bundle.graph("int8", "toy.onnx").exists()
    assert read_bundle(tmp_path, "toy") is None


def test_hidden_folder_is_no_model(bundle: Bundle, tmp_path: Path) -> None:
    assert own_models(tmp_path) == ("toy",)
    bundle.folder.rename(tmp_path / ".toy")
    assert own_models(tmp_path) == ()


def test_model_on_another_disk_is_removed_with_its_link(
    bundle: Bundle, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere" / "toy"
    elsewhere.parent.mkdir()
    bundle.folder.rename(elsewhere)
    bundle.folder.symlink_to(elsewhere)
    assert remove_bundle(tmp_path, "toy")
    assert not bundle.folder.is_symlink()
    assert not elsewhere.exists()


def test_removal_waits_for_an_install(bundle: Bundle, tmp_path: Path) -> None:
    said: SimpleQueue[str] = SimpleQueue()
    with ThreadPoolExecutor() as pool, install_lock(tmp_path, "toy"):
        removal = pool.submit(remove_bundle, tmp_path, "toy", said.put)
        assert "Waiting for another process" in said.get(timeout=10)
        assert bundle.folder.exists()
    assert removal.result()


FACTS = ModelFacts(3, 4, 16, 64, 1024, 512, 192, 80, 22_050, 50, 8, 256, ("instruct",))


@pytest.fixture
def own(tmp_path: Path) -> Bundle:
    (tmp_path / "mine" / "voices").mkdir(parents=True)
    voice = tmp_path / "mine" / "voices" / "me.npz"
    voice.write_bytes(b"voice")
    manifest = Manifest(
        model="mine",
        base=COSYVOICE_300M_SFT.id,
        source="a test",
        source_files={},
        levels=(Level("fp32", "fp32"), Level("int4", "int8")),
        graphs={},
        others={"voices/me.npz": digest_of(voice)},
        facts=FACTS,
        converter="0",
    )
    return write_manifest(tmp_path, manifest)


def test_manifest_keeps_facts_and_levels(own: Bundle, tmp_path: Path) -> None:
    again = read_bundle(tmp_path, "mine")
    assert again is not None
    assert again.manifest.facts == FACTS
    assert again.manifest.levels == (Level("fp32", "fp32"), Level("int4", "int8"))
    assert again.precisions == ("fp32", "int4")


def test_voice_that_came_with_the_model_is_part_of_it(own: Bundle) -> None:
    own.check()
    (own.voices_folder / "mine.npz").write_bytes(b"saved")
    own.check()
    (own.voices_folder / "me.npz").unlink()
    assert own.problems() == {"voices/me.npz": "missing"}


def test_own_model_is_what_it_was_made_like(own: Bundle, tmp_path: Path) -> None:
    assert own_models(tmp_path) == ("mine",)
    spec = spec_of(tmp_path, "mine")
    assert (spec.id, spec.family) == ("mine", "cosyvoice")
    assert spec.modes == FACTS.modes
    assert spec_of(tmp_path, "lite") == LITE


@pytest.mark.parametrize(
    ("base", "reason"),
    [("", "holds mine, .*Rename it to mine"), ("cosyvoice9", "cosyvoice9.*Upgrade")],
)
def test_copy_under_another_name_is_told(
    own: Bundle, tmp_path: Path, base: str, reason: str
) -> None:
    own.folder.rename(tmp_path / "mine.bak")
    manifest = own.manifest.model_copy(update={"base": base})
    seal(tmp_path / "mine.bak", manifest)
    with pytest.raises(ModelLoadError, match=reason):
        spec_of(tmp_path, "mine.bak")


@pytest.mark.parametrize("name", ["nothing", "../mine", "mine/../mine", "."])
def test_model_that_is_nowhere_is_not_found(
    own: Bundle, tmp_path: Path, name: str
) -> None:
    with pytest.raises(NotFoundError, match="unknown model"):
        spec_of(tmp_path, name)


def test_graphs_lie_in_the_folders_of_their_levels(own: Bundle) -> None:
    graphs = own.graphs(Level("int4", "fp32"))
    folders = {name: path.parent.name for name, path in graphs.items()}
    assert folders["lm"] == "int4"
    assert folders["estimator"] == folders["text_encoder"] == "int8"
    assert folders["vocoder"] == folders["lm_embedding"] == "fp32"
