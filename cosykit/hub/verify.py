"""Hold files against the sizes and SHA-256 hashes that are known of them."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class FileDigest:
    """Size and SHA-256 of a file's content."""

    size_bytes: int
    sha256: str


def digest_of(path: Path) -> FileDigest:
    """Read a file and compute its digest.

    Raises:
        OSError: The file cannot be read.
    """
    digest = hashlib.sha256()
    size_bytes = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
            size_bytes += len(block)
    return FileDigest(size_bytes, digest.hexdigest())


def problem_with(
    path: Path, expected: FileDigest, *, by_size: bool = False
) -> str | None:
    """Say how a file differs from what is expected, or None when it does not.

    Args:
        by_size: Looks no further than at its size, and so reads nothing.
    """
    try:
        if not path.is_file():
            return "missing"
        size_bytes = path.stat().st_size
        if size_bytes != expected.size_bytes:
            return f"{size_bytes} bytes instead of {expected.size_bytes}"
        if not by_size and digest_of(path) != expected:
            return "its SHA-256 is not the recorded one"
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return None
