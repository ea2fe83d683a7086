import os
import pickle
import random
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from cosykit.convert.checkpoint import read_checkpoint, read_tables
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


def archive(path: Path, pickled: bytes, compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as file:
        file.writestr("llm/data.pkl", pickled)
        file.writestr("llm/data/0", bytes(8))
    return path


# Descriptions of a tensor of 8 bytes, as torch writes them.
FIRST_STORAGE = b"(X\x07\0\0\0storagectorch\n%s\nX\x01\0\0\x000X\x03\0\0\0cpuK\x02tQ"


@pytest.mark.parametrize(
    "pickled",
    [
        b"\x80\x02}r\xff\xff\xff\x7f.",  # memory for 2^31 objects
        b"}p2000000000\n.",
        b"\x80\x05\x96\0\0\0\0\0\x01\0\0x.",  # a terabyte that is not there
        b"\x80\x04\x8e\0\0\0\0\0\x01\0\0x.",
        b"\x80\x02}K\x01K\x01s.",  # a key that is no text
        b"\x80\x02}K\x012\x862\x86K\x01s.",
    ],
)
def test_pickle_that_asks_for_too_much_is_refused(
    tmp_path: Path, pickled: bytes
) -> None:
    path = archive(tmp_path / "llm.pt", pickled)
    with pytest.raises(ModelLoadError, match="no whole PyTorch checkpoint"):
        read_checkpoint(path)
    path.write_bytes(pickled)
    with pytest.raises(ModelLoadError, match="no whole PyTorch checkpoint"):
        read_checkpoint(path)


@pytest.mark.parametrize(
    "pickled",
    [
        b"c%s\n%s\n." % (b"x\x1b[2J" * 100_000, b"y" * 1_000_000),
        b"S%s\n." % (b"z" * 1_000_000),
        b"}X\x40\x42\x0f\0%sK\x01s." % (b"k" * 1_000_000),
    ],
)
def test_what_is_told_of_a_file_is_short_and_printable(
    tmp_path: Path, pickled: bytes
) -> None:
    with pytest.raises(ModelLoadError) as caught:
        read_checkpoint(archive(tmp_path / "llm.pt", pickled))
    assert len(caught.value.message) < 400
    assert caught.value.message.isprintable()


def test_compressed_pickle_is_refused(tmp_path: Path) -> None:
    pickled = b"\x80\x02" + b"N0" * 10_000_000 + b"}."
    path = archive(tmp_path / "llm.pt", pickled, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 100_000
    with pytest.raises(ModelLoadError, match="is compressed or encrypted"):
        read_checkpoint(path)


def test_encrypted_pickle_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "llm.pt", b"}.")
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(ModelLoadError, match="is compressed or encrypted"):
        read_checkpoint(path)


def test_older_format_of_a_machine_with_another_byte_order_is_refused(
    tmp_path: Path,
) -> None:
    content = (CHECKPOINTS / "legacy.pt").read_bytes()
    place = content.index(b"little_endian")
    place = content.index(pickle.NEWTRUE, place)
    path = tmp_path / "legacy.pt"
    path.write_bytes(content[:place] + pickle.NEWFALSE + content[place + 1 :])
    with pytest.raises(ModelLoadError, match="byte order"):
        read_checkpoint(path)


PAIR = b"q\0h\0\x86"  # a tuple of twice what is on the stack


@pytest.mark.parametrize(
    "pickled",
    [
        b"}(" + b")K\x01u.",
        b"}(" + b")" + PAIR + b"K\x01u.",
        b"}(" + b")" + 60 * PAIR + b"K\x01u.",  # 2^60 steps to its hash
        b"}(" + b")" + 60 * b"2\x86" + b"K\x01u.",
        b"}(" + b")" + 500_000 * b"\x85" + b"K\x01u.",  # too deep for the stack
        b"(" + b")" + 60 * PAIR + b"K\x01d.",
        b"(" + b")" + 60 * PAIR + b"\x910}.",
        b"\x8f(" + b")" + 60 * PAIR + b"\x900}.",
        b"ccollections\nOrderedDict\n)" + 60 * PAIR + b"K\x01\x86\x85\x85R.",
    ],
)
def test_what_is_no_text_is_refused_as_a_key_before_it_is_one(
    tmp_path: Path, pickled: bytes
) -> None:
    with pytest.raises(ModelLoadError, match="no whole PyTorch checkpoint"):
        read_tables(archive(tmp_path / "spk2info.pt", b"\x80\x04" + pickled))


@pytest.mark.parametrize("storage", [b"FloatStorage", b"BFloat16Storage"])
def test_tensor_larger_than_its_storage_is_refused(
    tmp_path: Path, storage: bytes
) -> None:
    """Repeating two numbers a billion times costs a file nothing."""
    view = b"(%sK\0J\xff\xff\xff\x7f\x85K\0\x85\x89NtR" % (FIRST_STORAGE % storage)
    state = b"}X\x01\0\0\0actorch._utils\n_rebuild_tensor_v2\n%ss." % view
    path = archive(tmp_path / "llm.pt", b"\x80\x02" + state)
    with pytest.raises(ModelLoadError, match="beyond the end of its storage"):
        read_checkpoint(path)
    small = archive(
        tmp_path / "hift.pt",
        b"\x80\x02" + state.replace(b"J\xff\xff\xff\x7f", b"K\x02"),
    )
    assert read_checkpoint(small)["a"].shape == (2,)


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
