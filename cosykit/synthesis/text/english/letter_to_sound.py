"""Guess how an unknown word sounds: an n-gram model of letters joined with sounds.

A unit is a letter with what it stands for in a word: `h:`, `x:ks`, `a:ˈA`. The model
knows how likely a unit is after up to six others, and words are read from their end,
because an ending decides where the stress falls. The n-grams form a trie whose nodes
are numbered level by level, so that the children of a node are neighbours in one byte
string. `tools/train_letter_to_sound.py` writes the model.
"""

import heapq
import lzma
from array import array
from collections import defaultdict
from importlib.resources import files
from itertools import accumulate
from typing import NamedTuple

from cosykit.synthesis.text.english.stress import PRIMARY

EDGE = 0
"""The unit that stands before and behind every word."""

BITS_PER_STEP = 0.25
"""Precision of costs; 0.125 makes the file 12 % larger and no word better."""

_ROOT = 0
_BEAM = 16
_UNSTRESSED_COST = 16
"""A word without a primary stress is as rare as 1 in 2 ** 4."""


class _Path(NamedTuple):
    """A reading of the last letters of a word.

    Attributes:
        cost: How unlikely it is, in steps of bits.
        suffixes: Nodes of the units read last, the longest run of units first.
        stressed: Whether it has the primary stress.
        sounds: The reading.
    """

    cost: int
    suffixes: tuple[int, ...]
    stressed: bool
    sounds: str


class LetterToSound:
    """Finds the likeliest reading of a word.

    Args:
        packed: The units, separated by spaces, a line break, then four bytes of every
            node, field by field: unit, number of children, cost, cost of backing off.
    """

    def __init__(self, packed: bytes) -> None:
        names, _, fields = packed.partition(b"\n")
        nodes = len(fields) // 4
        self._unit = fields[:nodes]
        counts = fields[nodes : 2 * nodes]
        self._first_child = array("I", accumulate(counts, initial=1))
        self._cost = fields[2 * nodes : 3 * nodes]
        self._backoff = fields[3 * nodes :]
        self._units_of: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for unit, name in enumerate(names.decode().split(" ")):
            letter, _, sounds = name.partition(":")
            self._units_of[letter].append((unit, sounds))

    def phonemes(self, word: str) -> str:
        """Read a word of the letters a to z; other characters are skipped."""
        _, suffixes = self._follow((_ROOT,), EDGE)
        paths = [_Path(0, suffixes, stressed=False, sounds="")]
        for letter in reversed(word):
            if letter in self._units_of:
                paths = self._extended(paths, letter)
        return min(map(self._ended, paths)).sounds

    def _extended(self, paths: list[_Path], letter: str) -> list[_Path]:
        best: dict[tuple[tuple[int, ...], bool], _Path] = {}
        for path in paths:
            for unit, sounds in self._units_of[letter]:
                stresses = PRIMARY in sounds
                if stresses and path.stressed:
                    continue
                cost, suffixes = self._follow(path.suffixes, unit)
                stressed = path.stressed or stresses
                longer = _Path(
                    path.cost + cost, suffixes, stressed, sounds + path.sounds
                )
                known = best.get((suffixes, stressed))
                if known is None or longer.cost < known.cost:
                    best[suffixes, stressed] = longer
        return heapq.nsmallest(_BEAM, best.values())

    def _ended(self, path: _Path) -> _Path:
        cost, _ = self._follow(path.suffixes, EDGE)
        extra = 0 if path.stressed else _UNSTRESSED_COST
        return path._replace(cost=path.cost + cost + extra)

    def _follow(
        self, suffixes: tuple[int, ...], unit: int
    ) -> tuple[int, tuple[int, ...]]:
        """Append a unit: what it costs, and the suffixes of the longer history."""
        cost, backoff = -1, 0
        longer = []
        for node in suffixes:
            child = self._unit.find(
                unit, self._first_child[node], self._first_child[node + 1]
            )
            if child >= 0:
                if cost < 0:
                    cost = backoff + self._cost[child]
                if self._first_child[child] < self._first_child[child + 1]:
                    longer.append(child)
            elif cost < 0:
                backoff += self._backoff[node]
        return cost, (*longer, _ROOT)


def load_letter_to_sound() -> LetterToSound:
    """Read the model that comes with the package."""
    packed = files(__package__).joinpath("data/letter_to_sound.xz").read_bytes()
    return LetterToSound(lzma.decompress(packed))
