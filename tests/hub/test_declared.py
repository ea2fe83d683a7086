"""What a hub declares of a file says what the file cannot be."""

from cosykit.hub.declared import DeclaredFile
from cosykit.hub.verify import FileDigest


def test_content_of_another_size_cannot_be_what_git_names() -> None:
    small = DeclaredFile(size_bytes=3, algorithm="git-blob", checksum="0" * 40)
    assert small.may_be(FileDigest(3, "1" * 64))
    assert not small.may_be(FileDigest(4, "1" * 64))
