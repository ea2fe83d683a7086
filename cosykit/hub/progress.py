"""How long work is told: a line now and then, and where it stands."""

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


@dataclass(frozen=True, slots=True)
class Conversion:
    """Where a conversion stands.

    Attributes:
        path: The file that is being made, by its path in the bundle.
        done_bytes: How much of the released files is converted, each counted as often
            as it is read.
    """

    path: str
    done_bytes: int
    total_bytes: int


Say = Callable[[str], None]
"""Takes one line of news."""

Report = Callable[[Transfer], None]
"""Takes the state of a file: of every file before the first byte, then as it grows."""

ConversionReport = Callable[[Conversion], None]


def silent(news: object) -> None:
    """Take news and tell nobody."""


@dataclass(frozen=True, slots=True)
class News:
    """Who hears how an install goes."""

    say: Say = silent
    transfer: Report = silent
    conversion: ConversionReport = silent
