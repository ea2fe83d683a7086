"""How a long download is told: a line now and then, and where it stands."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Transfer:
    """Where a download of several files stands, and one file of it.

    Attributes:
        arrived_bytes: What is on the disk; less than before when it had to start again.
    """

    path: str
    arrived_bytes: int
    size_bytes: int
    total_arrived_bytes: int
    total_bytes: int


Say = Callable[[str], None]
"""Takes one line of news."""

Report = Callable[[Transfer], None]
"""Takes the state of a file: of every file before the first byte, then as it grows."""


def silent(news: object) -> None:
    """Take news and tell nobody."""
