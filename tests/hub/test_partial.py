"""A beginning is continued with the content that it is of, and with no other."""

from pathlib import Path

import pytest

from cosykit.hub.declared import DeclaredFile
from cosykit.hub.failures import ContentError
from cosykit.hub.partial import Partial
from cosykit.hub.verify import digest_of

WHOLE = b"all that there is"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "llm.pt"


def declared(target: Path, content: bytes = WHOLE) -> DeclaredFile:
    target.write_bytes(content)
    digest = digest_of(target)
    target.unlink()
    return DeclaredFile(
        size_bytes=digest.size_bytes, algorithm="sha256", checksum=digest.sha256
    )


def begin(target: Path) -> None:
    """Let the first bytes arrive, and be killed then."""
    with Partial(target, declared(target)) as partial:
        partial.note_source("one", "tag")
        partial.write(WHOLE[:5])


def test_beginning_is_continued(target: Path) -> None:
    begin(target)
    with Partial(target, declared(target)) as partial:
        assert partial.size_bytes == 5
        partial.write(WHOLE[5:])
        assert partial.is_full
        partial.finish()
    assert target.read_bytes() == WHOLE
    assert list(target.parent.iterdir()) == [target]


def test_beginning_of_other_content_is_thrown_away(target: Path) -> None:
    begin(target)
    with Partial(target, declared(target, b"All that there is")) as partial:
        assert partial.size_bytes == 0


def test_tag_of_one_place_says_nothing_to_another(target: Path) -> None:
    begin(target)
    with Partial(target, declared(target)) as partial:
        assert partial.etag_at("one") == "tag"
        assert partial.etag_at("another") == ""


def test_wrong_content_gets_no_place(target: Path) -> None:
    with Partial(target, declared(target)) as partial:
        partial.write(WHOLE.upper())
        with pytest.raises(ContentError, match="another hash"):
            partial.finish()
        assert partial.size_bytes == 0
    assert not target.exists()
