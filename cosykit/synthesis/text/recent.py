"""Remember what was made of the texts of late, for several threads."""

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Generic, TypeVar

# A text is read to see whether its speech is there already, and again, after it has
# waited in the queue, to be spoken. 4 000 characters take 30 to 70 ms to read.
_TEXTS = 64
_LONGEST_TEXT = 5000

Manner = TypeVar("Manner", bound=Hashable)
Read = TypeVar("Read")


class RecentTexts(Generic[Manner, Read]):
    """The short texts that were read last; the same one in another manner is another.

    Args:
        read: Reads a text; what it gives is shared, and must not be changed.
    """

    def __init__(self, read: Callable[[str, Manner], Read]) -> None:
        self._read = read
        self._recent = lru_cache(maxsize=_TEXTS)(read)

    def get(self, text: str, manner: Manner) -> Read:
        """Read a text, or give what was read before."""
        if len(text) > _LONGEST_TEXT:
            return self._read(text, manner)
        return self._recent(text, manner)
