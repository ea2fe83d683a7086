import os
import pickle
import random
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from cosykit.convert.checkpoint import read_checkpoint
from cosykit.errors import ModelLoadError
from tests.convert.recorded import CHECKPOINTS, FOLDER


@pytest.mark.parametrize("name", ["zip.pt", "legacy.pt"])
def test_both_formats_give_exactly_the_recorded_tensors(name: str) -> None:
    found = read_checkpoint(CHECKPOINTS / name)
    with np.load(CHECKPOINTS / "expected.npz") as expected:
        assert set(found) == set(expected.files)
        for key in expected.files:
            # The record holds half precision widened.
            wide = np.float32 if found[key].dtype == np.float16 else found[key].dtype
            assert wide == expected[key].dtype
            np.testing.assert_array_equal(found[key], expected[key], key)


def test_tensors_are_mapped_and_cannot_be_written() -> None:
    found = read_checkpoint(FOLDER / "llm.pt")
    table = found["text_embedding.weight"]
    assert not table.flags.owndata
    assert not table.flags.writeable


def test_code_in_a_checkpoint_is_refused_by_name_and_not_run(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(ModelLoadError, match=r"hostile\.pt is refused: .*system"):
        read_checkpoint(CHECKPOINTS / "hostile.pt")
    assert "executed" not in capfd.readouterr().out


@pytest.mark.parametrize(
    "reduced",
    [
        (eval, ("1",)),
        (os.getcwd, ()),
        (getattr, (OrderedDict, "fromkeys")),
    ],
)
def test_any_name_off_the_list_is_refused(
    tmp_path: Path, reduced: tuple[object, ...]
) -> None:
    class Reduced:
        def __reduce__(self) -> tuple[object, ...]:
            return reduced

    path = tmp_path / "llm.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("llm/data.pkl", pickle.dumps({"a": Reduced()}, 2))
    with pytest.raises(ModelLoadError, match="is refused"):
        read_checkpoint(path)


def test_cut_off_file_is_refused() -> None:
    with pytest.raises(ModelLoadError, match="no whole PyTorch checkpoint"):
        read_checkpoint(CHECKPOINTS / "truncated.pt")


@pytest.mark.parametrize("name", ["zip.pt", "legacy.pt"])
def test_file_cut_anywhere_is_refused(tmp_path: Path, name: str) -> None:
    whole = (CHECKPOINTS / name).read_bytes()
    path = tmp_path / name
    for length in range(0, len(whole) - 1, 61):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelLoadError):
            read_checkpoint(path)


@pytest.mark.parametrize("name", ["zip.pt", "legacy.pt"])
def test_flipped_bytes_are_read_or_refused(tmp_path: Path, name: str) -> None:
    whole = (CHECKPOINTS / name).read_bytes()
    path = tmp_path / name
    chance = random.Random(3)
    for _ in range(300):
        broken = bytearray(whole)
        broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
        path.write_bytes(broken)
        try:
            for tensor in read_checkpoint(path).values():
                tensor.copy()
        except ModelLoadError:
            pass


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"<html>Sign in</html>"])
def test_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "flow.pt"
    path.write_bytes(content)
    with pytest.raises(ModelLoadError):
        read_checkpoint(path)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError):
        read_checkpoint(tmp_path / "none.pt")
