"""Finished audio that waits for its client to fetch it."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

KEPT_S = 3600.0
_MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Kept:
    """A file that waits.

    Attributes:
        until: Of the shelf's clock.
    """

    content: bytes
    media_type: str
    until: float


class Shelf:
    """Keeps files for an hour, or until newer ones need their room.

    Args:
        now: A clock in seconds that never goes back.
        most_bytes: Most that all of them take.

    Attributes:
        most_bytes: So large may one be.
    """

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        most_bytes: int = _MOST_BYTES,
    ) -> None:
        self._now, self.most_bytes = now, most_bytes
        self._files: OrderedDict[str, Kept] = OrderedDict()
        self._size_bytes = 0

    def put(self, content: bytes, media_type: str) -> str | None:
        """Keep a file; give the name to fetch it by, which nobody can guess.

        None tells that it is too large.
        """
        if len(content) > self.most_bytes:
            return None
        name = secrets.token_urlsafe(24)
        self._files[name] = Kept(content, media_type, self._now() + KEPT_S)
        self._size_bytes += len(content)
        self._clear()
        return name

    def find(self, name: str) -> Kept | None:
        """Give a file; None where it has gone or never was."""
        self._clear()
        return self._files.get(name)

    def _clear(self) -> None:
        """Throw away what is too old, and the oldest of too much."""
        while self._files:
            oldest = next(iter(self._files.values()))
            if self._size_bytes <= self.most_bytes and oldest.until > self._now():
                return
            self._files.popitem(last=False)
            self._size_bytes -= len(oldest.content)
