"""A folder in the released layout stands in for a hub."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cosykit.errors import HubError, InputError, ModelLoadError, ResourceError
from cosykit.hub.sources import use_folder
from cosykit.hub.verify import FileDigest, digest_of
from tests.hub.conftest import FILES, SOURCE, WANTED


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_files_stay_where_they_are(folder: Path) -> None:
    files = use_folder(SOURCE, folder, strict=True)
    assert files.folder == folder
    assert files.digests == {name: digest_of(folder / name) for name in WANTED}
    files.discard()
    assert {path.name for path in folder.iterdir()} == set(FILES)


def test_optional_file_is_taken_along(folder: Path) -> None:
    (folder / "spk2info.pt").write_bytes(b"voices")
    assert "spk2info.pt" in use_folder(SOURCE, folder, strict=False).digests


def test_missing_files_are_named(folder: Path) -> None:
    (folder / "llm.pt").unlink()
    (folder / "flow.pt").unlink()
    with pytest.raises(ModelLoadError, match=r"lacks llm\.pt, flow\.pt.*released"):
        use_folder(SOURCE, folder, strict=False)


@pytest.mark.parametrize("name", ["nowhere", "llm.pt"])
def test_folder_that_is_none_is_named(folder: Path, name: str) -> None:
    with pytest.raises(InputError, match=f"no folder .*{name}"):
        use_folder(SOURCE, folder / name, strict=False)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_file_that_cannot_be_read_is_named(folder: Path) -> None:
    """Not even root may read another's memory from its start."""
    (folder / "llm.pt").unlink()
    (folder / "llm.pt").symlink_to("/proc/self/mem")
    with pytest.raises(ResourceError, match=r"llm\.pt cannot be read.*--from DIR"):
        use_folder(SOURCE, folder, strict=False)


def test_pointer_in_place_of_a_file_is_named(folder: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    (folder / "llm.pt").write_text(pointer)
    with pytest.raises(ModelLoadError, match=r"llm\.pt is a Git LFS pointer.*lfs pull"):
        use_folder(SOURCE, folder, strict=False)


def test_file_that_the_catalogue_knows_otherwise_is_said_or_refused(
    folder: Path,
) -> None:
    source = replace(SOURCE, known={"llm.pt": FileDigest(1, "0" * 64)})
    said: list[str] = []
    files = use_folder(source, folder, strict=False, say=said.append)
    assert files.unexpected == source.known
    assert any(line.endswith(f"manifest: llm.pt in {folder}") for line in said)
    with pytest.raises(HubError, match=r"llm\.pt in .*hub\.strict"):
        use_folder(source, folder, strict=True)
