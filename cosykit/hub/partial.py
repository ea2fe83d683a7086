"""The beginning of a file, kept until the rest has come, in this process or a later.

    llm.pt              the file, whole and checked
    llm.pt.part         its beginning
    llm.pt.part.json    which content that is the beginning of

A beginning counts only while the hub still declares the same content. Whoever kills the
process loses nothing: what is on the disk is hashed again before it is continued.
"""

from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from cosykit.errors import ResourceError
from cosykit.hub.atomic import replacing, sync, translate_os_error
from cosykit.hub.declared import DeclaredFile, RunningDigest
from cosykit.hub.failures import ContentError
from cosykit.hub.verify import FileDigest

_BLOCK_BYTES = 1 << 20


class _Note(BaseModel):
    """The content of the .part.json file.

    Attributes:
        address: Where the bytes came from.
        etag: How that place names the version of its content; empty when it does not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    declared: DeclaredFile
    address: str
    etag: str


class Partial:
    """A file that is growing.

    Raises:
        ResourceError: The folder cannot be written or the disk is full; from every
            method.
    """

    def __init__(self, target: Path, declared: DeclaredFile) -> None:
        self.declared = declared
        self._target = target
        self._path = beginning_of(target)
        self._note_path = target.with_name(f"{target.name}.part.json")
        self._note = self._read_note()
        self._digest = RunningDigest(declared)
        if self._path.exists() and not self._path.is_file():
            # A pipe would keep its reader waiting for good.
            raise ResourceError(
                f"{self._path} cannot be written: it is no regular file",
                hint="Delete it, and try again",
            )
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Unbuffered: what counts as arrived has been handed to the system.
            self._file = self._path.open("r+b" if self._note else "w+b", buffering=0)
            while block := self._file.read(_BLOCK_BYTES):
                self._digest.update(block)
        except OSError as error:
            raise translate_os_error(error, self._path) from error
        if self.size_bytes > declared.size_bytes:
            self.restart()

    def _read_note(self) -> _Note | None:
        """Read what the beginning is of; None when it cannot be continued."""
        if not (self._note_path.is_file() and self._path.is_file()):
            return None
        try:
            note = _Note.model_validate_json(self._note_path.read_bytes())
        except (OSError, ValidationError):
            return None
        return note if note.declared == self.declared else None

    @property
    def size_bytes(self) -> int:
        """How much has arrived."""
        return self._digest.size_bytes

    @property
    def is_full(self) -> bool:
        """Whether as much has arrived as is declared."""
        return self.size_bytes >= self.declared.size_bytes

    def etag_at(self, address: str) -> str:
        """Give the tag of the version that the beginning came from, where one is known.

        Args:
            address: What is to continue; the tags of other places say nothing to it.
        """
        return self._note.etag if self._note and self._note.address == address else ""

    def note_source(self, address: str, etag: str) -> None:
        """Write down where the next bytes come from."""
        note = _Note(declared=self.declared, address=address, etag=etag)
        if note != self._note:
            with replacing(self._note_path) as temporary:
                temporary.write_text(note.model_dump_json(), "utf-8")
            self._note = note

    def write(self, block: bytes) -> None:
        """Append the next bytes."""
        left = memoryview(block)
        try:
            while left:
                left = left[self._file.write(left) or 0 :]
        except OSError as error:
            raise translate_os_error(error, self._path) from error
        self._digest.update(block)

    def restart(self) -> None:
        """Throw away what has arrived."""
        self._digest = RunningDigest(self.declared)
        try:
            self._file.seek(0)
            self._file.truncate()
        except OSError as error:
            raise translate_os_error(error, self._path) from error

    def finish(self) -> FileDigest:
        """Check what has arrived and give it its place.

        Raises:
            ContentError: It is not what is declared; it is thrown away.
        """
        if not self._digest.matches:
            self.restart()
            raise ContentError(
                f"{self._target.name} arrived with another hash than the hub declares",
                hint="Something between here and the hub changes the content; try "
                "again later, or from another network",
            )
        try:
            self._file.close()
            sync(self._path)
            self._path.replace(self._target)
            sync(self._target.parent)
            self._note_path.unlink(missing_ok=True)
        except OSError as error:
            raise translate_os_error(error, self._target) from error
        return self._digest.digest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()


def beginning_of(target: Path) -> Path:
    """Say where the beginning of a file is kept."""
    return target.with_name(f"{target.name}.part")
