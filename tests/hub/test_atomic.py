"""A write that fails leaves the old file and no rubbish."""

import errno
from pathlib import Path

import pytest

from cosykit.errors import ResourceError
from cosykit.hub.atomic import replacing


def test_new_content_takes_the_place_of_the_old(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "file"
    for content in ("old", "new"):
        with replacing(target) as temporary:
            temporary.write_text(content)
    assert target.read_text() == "new"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), ValueError("broken")])
def test_failure_keeps_the_old_content(tmp_path: Path, failure: BaseException) -> None:
    target = tmp_path / "file"
    target.write_text("old")
    with pytest.raises(type(failure)), replacing(target) as temporary:
        temporary.write_text("half")
        raise failure
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_failure_with_a_remedy_of_its_own_keeps_it(tmp_path: Path) -> None:
    with (
        pytest.raises(ResourceError, match=r"^no room\. Make some$"),
        replacing(tmp_path / "file"),
    ):
        raise ResourceError("no room", hint="Make some")


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.ENOSPC, "Free some disk space"),
        (errno.EROFS, "write access"),
        (errno.EISDIR, "Move what is in its way"),
        (errno.EFBIG, "ulimit"),
    ],
)
def test_system_error_says_what_to_do(tmp_path: Path, number: int, hint: str) -> None:
    with (
        pytest.raises(ResourceError, match=hint),
        replacing(tmp_path / "file") as temporary,
    ):
        temporary.write_text("half")
        raise OSError(number, "no")
    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file")
    with (
        pytest.raises(ResourceError, match="Move that file"),
        replacing(tmp_path / "models" / "file"),
    ):
        pass
