"""What a hub declares of its files, and the bytes held against it as they pass."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from cosykit.hub.verify import FileDigest

_BLOCK_BYTES = 1 << 20

Checksum = Annotated[str, Field(pattern="^([0-9a-f]{40}|[0-9a-f]{64})$")]
SizeBytes = Annotated[int, Field(ge=0)]


class DeclaredFile(BaseModel):
    """Size and hash of a file, as its hub declares them.

    Attributes:
        algorithm: `sha256` of the content, or `git-blob`: the SHA-1 by which git names
            it, which is all that Hugging Face tells of small files.
        checksum: In hexadecimal.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    size_bytes: SizeBytes
    algorithm: Literal["sha256", "git-blob"]
    checksum: Checksum

    def may_be(self, known: FileDigest) -> bool:
        """Tell whether content of a known digest can be what is declared."""
        if self.algorithm == "sha256" and self.checksum != known.sha256:
            return False
        return self.size_bytes == known.size_bytes


class Listing(BaseModel):
    """The files of a repository at one revision.

    Attributes:
        hub: Name of the hub, as `hub.source` takes it.
        revision: The commit, where the hub tells it; otherwise the branch or tag.
        asked: The revision that the user asked for; None for the hub's default.
        files: What is declared of each file, by its path.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    hub: Literal["huggingface", "modelscope"]
    repository: str
    revision: str
    asked: str | None
    files: Mapping[str, DeclaredFile]


class RunningDigest:
    """Hashes content as it passes."""

    def __init__(self, declared: DeclaredFile) -> None:
        self.size_bytes = 0
        self._declared = declared
        self._sha256 = hashlib.sha256()
        self._judge = self._sha256
        if declared.algorithm == "git-blob":
            opening = f"blob {declared.size_bytes}\0".encode()
            self._judge = hashlib.sha1(opening, usedforsecurity=False)

    def update(self, block: bytes) -> None:
        """Take the next bytes."""
        self.size_bytes += len(block)
        self._sha256.update(block)
        if self._judge is not self._sha256:
            self._judge.update(block)

    @property
    def matches(self) -> bool:
        """Whether what has passed is the whole of what is declared."""
        return (
            self.size_bytes == self._declared.size_bytes
            and self._judge.hexdigest() == self._declared.checksum
        )

    def digest(self) -> FileDigest:
        """Give size and SHA-256 of what has passed."""
        return FileDigest(self.size_bytes, self._sha256.hexdigest())


def digest_if_whole(path: Path, declared: DeclaredFile) -> FileDigest | None:
    """Read a file and give its digest; None when it is absent or something else.

    Raises:
        OSError: The file cannot be read.
    """
    if not path.is_file() or path.stat().st_size != declared.size_bytes:
        return None
    digest = RunningDigest(declared)
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.digest() if digest.matches else None
