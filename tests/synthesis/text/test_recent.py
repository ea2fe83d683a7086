"""A text that was read a moment ago is not read again."""

import pytest

from cosykit.errors import InputError
from cosykit.synthesis.text.recent import RecentTexts


class Reading:
    """Reads words aloud on paper, and counts how often."""

    def __init__(self) -> None:
        self.times = 0
        self.recent = RecentTexts(self._read)

    def _read(self, text: str, manner: str) -> list[str]:
        self.times += 1
        if not text:
            raise InputError("there is nothing to read")
        return [manner, *text.split()]


def test_text_is_read_once_in_each_manner() -> None:
    reading = Reading()
    for _ in range(3):
        assert reading.recent.get("a b", "softly") == ["softly", "a", "b"]
        assert reading.recent.get("a b", "loudly") == ["loudly", "a", "b"]
    assert reading.times == 2


def test_long_and_old_texts_are_forgotten() -> None:
    reading = Reading()
    for text in ("a" * 10_000, *map(str, range(100))):
        reading.recent.get(text, "")
    reading.times = 0
    reading.recent.get("a" * 10_000, "")
    reading.recent.get("0", "")
    assert reading.times == 2


def test_text_that_cannot_be_read_fails_each_time() -> None:
    reading = Reading()
    for _ in range(2):
        with pytest.raises(InputError):
            reading.recent.get("", "")
