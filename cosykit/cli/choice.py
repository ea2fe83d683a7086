"""Take a word from the command line of which only some are known."""

from collections.abc import Iterable
from typing import TypeVar

from cosykit.errors import InputError, quoted

Word = TypeVar("Word", bound=str)


def chosen(given: str, known: Iterable[Word], what: str) -> Word:
    """Recognise a word, letter case aside.

    Args:
        what: What the word names, such as `format`; also the option at fault.

    Raises:
        InputError: It is none of those that are known.
    """
    words = tuple(known)
    for word in words:
        if word == given.lower():
            return word
    raise InputError(
        f"unknown {what} {quoted(given)}", hint=f"Known: {', '.join(words)}", param=what
    )
