"""What a client says of the cache: `Cache-Control` in its request."""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class CacheControl:
    """What a client allows.

    Attributes:
        may_read: Whether speech that was made before will do.
        may_keep: Whether its speech may be kept.
    """

    may_read: bool = True
    may_keep: bool = True

    @classmethod
    def of(cls, header: str) -> Self:
        """Read a header; what it says of other things is passed over.

        Source: RFC 9111, section 5.2.1
        """
        directives = {directive.strip().lower() for directive in header.split(",")}
        return cls(
            may_read=not directives & {"no-cache", "max-age=0"},
            may_keep="no-store" not in directives,
        )


_ANYTHING = CacheControl()

CACHE_CONTROL: ContextVar[CacheControl] = ContextVar("cache_control", default=_ANYTHING)
"""What the client of the current task allows."""
