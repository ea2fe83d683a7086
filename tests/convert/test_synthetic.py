"""A synthetic release has the keys, shapes and sizes of a real one."""

import hashlib
import pickletools
import zipfile
from math import prod
from pathlib import Path

import numpy as np
import pytest

from cosykit.convert.checkpoint import read_checkpoint, read_tables
from cosykit.convert.dimensions import Dimensions, read_dimensions
from cosykit.convert.synthetic import (
    checkpoint_shapes,
    write_description,
    write_release,
)
from cosykit.runtime.session import SessionSettings, open_session
from tests.convert.recorded import FOLDER

MILLION = 1_000_000


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    write_release(folder, "tiny")
    return folder


@pytest.mark.parametrize("name", ["llm.pt", "flow.pt", "hift.pt"])
def test_keys_and_shapes_are_those_of_upstream(
    dimensions: Dimensions, name: str
) -> None:
    recorded = read_checkpoint(FOLDER / name)
    assert checkpoint_shapes(dimensions)[name] == {
        key: tensor.shape for key, tensor in recorded.items()
    }


def test_full_size_has_the_parameters_of_the_real_one(tmp_path: Path) -> None:
    shapes = checkpoint_shapes(write_description(tmp_path / "cosyvoice.yaml", "full"))
    counts = {
        name: sum(map(prod, tensors.values())) for name, tensors in shapes.items()
    }
    assert counts["llm.pt"] / MILLION == pytest.approx(310.7, abs=0.1)
    assert counts["flow.pt"] / MILLION == pytest.approx(104.9, abs=0.1)
    assert counts["hift.pt"] / MILLION == pytest.approx(20.46, abs=0.01)


@pytest.mark.parametrize("name", ["llm.pt", "flow.pt", "hift.pt"])
def test_checkpoint_is_read_back(release: Path, name: str) -> None:
    shapes = checkpoint_shapes(read_dimensions(release / "cosyvoice.yaml"))[name]
    found = read_checkpoint(release / name)
    assert {key: tensor.shape for key, tensor in found.items()} == shapes
    for key, tensor in found.items():
        assert tensor.dtype == np.float32
        assert tensor.flags.aligned
        assert np.isfinite(tensor).all(), key
        if tensor.ndim > 1 and not key.endswith("original0"):
            bound = prod(tensor.shape[1:]) ** -0.5
            assert np.abs(tensor).max() <= bound * 1.001
            assert np.abs(tensor).max() > bound / 2


def test_archive_is_laid_out_as_by_pytorch(release: Path) -> None:
    """Numbers are stored plainly on multiples of 64; the pickle names known things."""
    content = (release / "hift.pt").read_bytes()
    with zipfile.ZipFile(release / "hift.pt") as archive:
        assert archive.testzip() is None
        assert archive.read("hift/version") == b"3\n"
        assert archive.read("hift/byteorder") == b"little"
        for entry in archive.infolist():
            assert entry.compress_type == zipfile.ZIP_STORED
            stored = archive.read(entry)
            place = content.index(stored, entry.header_offset) if stored else 0
            assert place % 64 == 0
        names = {
            argument
            for operation, argument, _ in pickletools.genops(
                archive.read("hift/data.pkl")
            )
            if operation.name == "GLOBAL"
        }
    assert names == {
        "torch._utils _rebuild_tensor_v2",
        "torch FloatStorage",
        "collections OrderedDict",
    }


def test_same_seed_gives_the_same_bytes(release: Path, tmp_path: Path) -> None:
    write_release(tmp_path / "same", "tiny")
    write_release(tmp_path / "other", "tiny", seed=1)
    for path in release.iterdir():
        first, same, other = (
            hashlib.sha256((folder / path.name).read_bytes()).digest()
            for folder in (release, tmp_path / "same", tmp_path / "other")
        )
        assert first == same
        assert (first == other) == (path.suffix in (".yaml", ".onnx"))


def test_voices_have_speaker_vectors(release: Path) -> None:
    voices = read_tables(release / "spk2info.pt")
    assert len(voices) == 7
    assert voices["中文女"]["embedding"].shape == (1, 192)


def test_stand_ins_take_and_give_what_the_real_networks_do(release: Path) -> None:
    settings = SessionSettings("cpu", threads=1)
    random = np.random.default_rng(0)
    banks = random.standard_normal((1, 300, 80)).astype(np.float32)
    network = open_session(release / "campplus.onnx", settings)
    (speaker,) = network.run({network.inputs[0]: banks}, ["output"])
    assert speaker.shape == (1, 192)
    mels = random.standard_normal((1, 128, 301)).astype(np.float32)
    tokenizer = open_session(release / "speech_tokenizer_v1.onnx", settings)
    first, second = tokenizer.inputs
    feeds = {first: mels, second: np.array([301], np.int32)}
    (ids,) = tokenizer.run(feeds, ["indices"])
    assert ids.shape == (1, 150)
    assert 0 <= ids.min() < ids.max() < 512


def test_parts_that_not_every_model_has_can_be_left_out(tmp_path: Path) -> None:
    write_release(tmp_path, "tiny", voices=False, clones=False)
    assert {path.name for path in tmp_path.iterdir()} == {
        "cosyvoice.yaml",
        "llm.pt",
        "flow.pt",
        "hift.pt",
    }
