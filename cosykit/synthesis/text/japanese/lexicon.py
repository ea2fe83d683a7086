"""The reading dictionary: IPADIC and words of our own, compact in memory.

`data/ipadic.npz`, made by `tools/build_japanese_dictionary.py`, holds it as columns:

    surfaces              words as written, sorted UTF-8, each ended by a line feed
    entries_per_surface   how many of the following entries belong to each surface
    pronunciations        katakana of each entry, one byte a kana, ended by a line feed
    contexts              what kind of word it is, as IPADIC's connection id
    costs                 how unlikely it is by itself
    connections           how unlikely context j is after context i, [i, j]
    parts_of_speech       the name of each context, one a line

`data/words.tsv` adds and corrects words; it is made to be edited.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cosykit.synthesis.text.japanese.kana import decode_kana
from cosykit.synthesis.text.japanese.tables import table_rows

BUNDLED = Path(__file__).parent / "data" / "ipadic.npz"
BUNDLED_WORDS = Path(__file__).parent / "data" / "words.tsv"

NOUN = "名詞,一般"
OWN_COST = 2500
"""Cost of a word of our own: it wins over any two words of IPADIC in its place."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A word with one of its readings.

    Attributes:
        surface: The word as written.
        pronunciation: Katakana as spoken (`トーキョー`); empty for punctuation.
        context: IPADIC's connection id, the same towards the left and the right.
        cost: How unlikely the word is by itself.
    """

    surface: str
    pronunciation: str
    context: int
    cost: int


class _Lines:
    """Strings ended by line feeds, in one block of bytes."""

    def __init__(self, block: NDArray[np.uint8]) -> None:
        self._block = block.tobytes()
        ends = np.flatnonzero(block == ord("\n"))
        self._starts = np.append(0, ends + 1).astype(np.int32).data

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, index: int) -> bytes:
        return self._block[self._starts[index] : self._starts[index + 1] - 1]


class Lexicon:
    """Finds the words that start at a place in a text.

    Reading is thread-safe. With IPADIC: 0.1 s to load, 20 MB in memory.

    Args:
        columns: A file as described above.
        words: Corrections, each a line `surface TAB pronunciation [TAB part of
            speech]`. Without a part of speech, a word that the columns know changes
            its reading, any other is added as a noun.
    """

    def __init__(self, columns: Path = BUNDLED, words: Path = BUNDLED_WORDS) -> None:
        with np.load(columns) as loaded:
            self._surfaces = _Lines(loaded["surfaces"])
            self._pronunciations = _Lines(loaded["pronunciations"])
            counts: NDArray[np.uint8] = loaded["entries_per_surface"]
            ends = counts.cumsum(dtype=np.int32)
            self._first_entry = np.append(np.int32(0), ends).data
            self._contexts = _scalars(loaded["contexts"])
            self._costs = _scalars(loaded["costs"])
            self._connections = _scalars(loaded["connections"])
            parts_of_speech = bytes(loaded["parts_of_speech"]).decode()
        self.parts_of_speech = parts_of_speech.splitlines()
        """Names of the contexts, such as `名詞,接尾,助数詞`."""
        self._own = self._own_entries(words)
        self._longest_own = max(map(len, self._own), default=0)

    def connection(self, left: int, right: int) -> int:
        """Tell how unlikely a word of context `right` is after one of `left`."""
        return self._connections[left * len(self.parts_of_speech) + right]

    def context(self, part_of_speech: str) -> int:
        """Find the first context of a part of speech."""
        return self.parts_of_speech.index(part_of_speech)

    def words_at(self, text: str, start: int) -> Iterator[Entry]:
        """List every word that the text from `start` on begins with."""
        for end in range(start + 1, min(len(text), start + self._longest_own) + 1):
            yield from self._own.get(text[start:end], ())
        low, high = 0, len(self._surfaces)
        for end in range(start + 1, len(text) + 1):
            prefix = text[start:end].encode("utf-8", "surrogatepass")
            low = self._position(prefix, low, high)
            if low == high or not self._surfaces[low].startswith(prefix):
                return
            high = self._position(prefix + b"\xff", low, high)
            if self._surfaces[low] == prefix and text[start:end] not in self._own:
                yield from self._entries(low)

    def _position(self, surface: bytes, low: int, high: int) -> int:
        return bisect_left(range(high), surface, low, key=self._surfaces.__getitem__)

    def _entries(self, position: int) -> Iterator[Entry]:
        surface = self._surfaces[position].decode()
        for index in range(
            self._first_entry[position], self._first_entry[position + 1]
        ):
            yield Entry(
                surface,
                decode_kana(self._pronunciations[index]),
                self._contexts[index],
                self._costs[index],
            )

    def _own_entries(self, words: Path) -> dict[str, list[Entry]]:
        found: defaultdict[str, list[Entry]] = defaultdict(list)
        for surface, pronunciation, *part_of_speech in table_rows(words):
            known = [] if part_of_speech else self._known(surface)
            context = self.context(part_of_speech[0] if part_of_speech else NOUN)
            found[surface] += [
                replace(entry, pronunciation=pronunciation) for entry in known
            ] or [Entry(surface, pronunciation, context, OWN_COST)]
        return dict(found)

    def _known(self, surface: str) -> list[Entry]:
        position = self._position(surface.encode(), 0, len(self._surfaces))
        if position == len(self._surfaces):
            return []
        return [e for e in self._entries(position) if e.surface == surface]


def _scalars(column: NDArray[np.int16] | NDArray[np.uint16]) -> memoryview:
    """Look at an array so that reading one number is fast."""
    return column.ravel().data
