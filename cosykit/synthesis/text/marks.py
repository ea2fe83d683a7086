"""Marks in a text that only the model understands: `<|zh|>`, `<laughter>`, `[breath]`.

A text with one of them is meant for the model as it is: it is cut, but nothing in it is
written out or cleaned.
"""

import re
from collections.abc import Mapping

from cosykit.synthesis.text.scripts import HELD_CJK

_SOUNDS = (
    "accent|breath|clucking|cough|hissing|laughter|lipsmack|mn|noise|quick_breath|sigh"
    "|vocalized-noise"
)
_MARK = re.compile(rf"<\|[^<>|\n]{{1,64}}\|>|</?(?:laughter|strong)>|\[(?:{_SOUNDS})\]")
_HELD = re.compile(f"[{HELD_CJK}]")
_FIRST_HELD = 0xF0000
_MOST = 0xFFFD


def has_marks(text: str) -> bool:
    """Tell whether a text has marks."""
    return _MARK.search(text) is not None


def has_words(text: str) -> bool:
    """Tell whether a text has a letter or digit outside of its marks."""
    return any(map(str.isalnum, _MARK.sub("", text)))


class HeldMarks:
    """A text in which a character stands for each mark, so that none is cut apart.

    Attributes:
        text: The text; `release` gives the marks back to any part of it.
    """

    def __init__(self, text: str) -> None:
        self._characters: dict[str, str] = {}
        self.text = _MARK.sub(self._held, _HELD.sub("", text))
        self._marks: Mapping[str, str] = {
            character: mark for mark, character in self._characters.items()
        }

    def release(self, part: str) -> str:
        """Put the marks back."""
        return _HELD.sub(lambda held: self._marks[held.group()], part)

    def _held(self, mark: re.Match[str]) -> str:
        found = self._characters.get(mark.group())
        if found is None:
            number = len(self._characters)
            # Of more kinds of marks some may be cut apart, but none is lost.
            found = chr(_FIRST_HELD + number) if number < _MOST else mark.group()
            self._characters[mark.group()] = found
        return found
