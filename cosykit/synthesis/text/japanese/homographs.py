"""Words with two readings, told apart by what stands around them.

`data/homographs.tsv` lists them; it is made to be edited. The first line that fits a
word gives its reading, otherwise the dictionary's choice stands.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from cosykit.synthesis.text.japanese.lattice import Word
from cosykit.synthesis.text.japanese.tables import table_rows

BUNDLED = Path(__file__).parent / "data" / "homographs.tsv"
_CONTEXT_CHARS = 24


@dataclass(frozen=True, slots=True)
class _Case:
    """Where a word has a certain reading."""

    reading: str
    before: re.Pattern[str]
    after: re.Pattern[str]

    def fits(self, before: str, after: str) -> bool:
        return bool(self.before.search(before) and self.after.match(after))


class Homographs:
    """Chooses readings by context.

    Args:
        table: Lines `word TAB reading TAB before [TAB after]`; `before` is a regular
            expression for the end of the text before the word, `after` for the start
            of the text behind it.
    """

    def __init__(self, table: Path = BUNDLED) -> None:
        self._cases: defaultdict[str, list[_Case]] = defaultdict(list)
        for surface, reading, before, *after in table_rows(table):
            case = _Case(
                reading, re.compile(f"(?:{before})\\Z"), re.compile("".join(after))
            )
            self._cases[surface].append(case)

    def choose(self, words: Iterable[Word], text: str) -> list[Word]:
        """Give each homograph of a text, cut into words, its reading."""
        chosen, start = [], 0
        for word in words:
            end = start + len(word.surface)
            chosen.append(self._read(word, text, start, end))
            start = end
        return chosen

    def _read(self, word: Word, text: str, start: int, end: int) -> Word:
        before = text[max(0, start - _CONTEXT_CHARS) : start]
        after = text[end : end + _CONTEXT_CHARS]
        for case in self._cases.get(word.surface, ()):
            if case.fits(before, after):
                return replace(word, pronunciation=case.reading)
        return word
