"""Characters with several readings: the dictionary, then the table of contexts.

The table is `data/contexts.txt`; its head explains the notation.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.resources import files

from cosykit.synthesis.text.mandarin.lexicon import Lexicon
from cosykit.synthesis.text.mandarin.pinyin import NEUTRAL, Syllable, syllables
from cosykit.synthesis.text.mandarin.words import Clause, Word

_EDGE = "^"

# Suffixes that have lost their tone for good; other neutral syllables only lend it.
_SUFFIXES = frozenset("子头")

# As far as `earlier` and `later` look; a clause without marks may be endless.
_REACH = 12


@dataclass(frozen=True, slots=True)
class _Condition:
    """One condition of a rule.

    Attributes:
        place: `word`, `prev`, `next`, `earlier` or `later`.
        holds: Whether a word must fit, or none may.
        exact: Words that fit, and `^` for the edge of the clause.
        globs: Pairs of a glob of the word and the start of a part of speech.
    """

    place: str
    holds: bool
    exact: frozenset[str]
    globs: tuple[tuple[str, str], ...]

    def met(self, clause: Clause, place: int) -> bool:
        near = _AT[self.place](clause, place)
        return self.holds is any(map(self._fits, near))

    def _fits(self, word: Word | None) -> bool:
        if word is None:
            return _EDGE in self.exact
        return word.text in self.exact or any(
            word.pos.startswith(pos) and fnmatchcase(word.text, glob)
            for glob, pos in self.globs
        )


_AT: dict[str, Callable[[Clause, int], Sequence[Word | None]]] = {
    "word": lambda clause, place: (clause[place].whole or clause[place],),
    "prev": lambda clause, place: clause[place - 1 : place] if place else (None,),
    "next": lambda clause, place: clause[place + 1 : place + 2] or (None,),
    "earlier": lambda clause, place: clause[max(0, place - _REACH) : place],
    "later": lambda clause, place: clause[place + 1 : place + 1 + _REACH],
}


@dataclass(frozen=True, slots=True)
class _Rule:
    reading: tuple[Syllable, ...]
    conditions: tuple[_Condition, ...]

    @property
    def inside_words(self) -> bool:
        return any(condition.place == "word" for condition in self.conditions)

    def fits(self, clause: Clause, place: int) -> bool:
        return all(condition.met(clause, place) for condition in self.conditions)


class Polyphones:
    """Gives every word of a clause its reading."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._rules = _read_rules()

    def read(self, clause: Clause) -> list[Word]:
        """Return the words with their readings, before any change of tone."""
        return [
            word if word.symbols else self._spoken(word, self._reading(clause, place))
            for place, word in enumerate(clause)
        ]

    def _spoken(self, word: Word, reading: tuple[Syllable, ...]) -> Word:
        """Give a word its reading, neutral syllables with the tones they have lost."""
        return word.spoken(
            self._with_full_tone(char, syllable)
            for char, syllable in zip(word.text, reading, strict=True)
        )

    def _with_full_tone(self, char: str, syllable: Syllable) -> Syllable:
        usual = self._lexicon.character(char)
        if syllable.tone != NEUTRAL or usual.base != syllable.base:
            return syllable
        return syllable if char in _SUFFIXES else syllable.weakened(usual.tone)

    def _reading(self, clause: Clause, place: int) -> tuple[Syllable, ...]:
        text = clause[place].text
        chosen = self._choose(text, clause, place, inside_words=True)
        if chosen is None:
            chosen = self._choose(text, clause, place, inside_words=False)
        if chosen is None and not _in_idiom(clause, place):
            chosen = self._lexicon.word(text)
        if chosen is not None:
            return chosen
        return tuple(self._character(char, clause, place) for char in text)

    def _character(self, char: str, clause: Clause, place: int) -> Syllable:
        chosen = self._choose(char, clause, place, inside_words=True)
        return chosen[0] if chosen else self._lexicon.character(char)

    def _choose(
        self, target: str, clause: Clause, place: int, *, inside_words: bool
    ) -> tuple[Syllable, ...] | None:
        for rule in self._rules.get(target, ()):
            if rule.inside_words is inside_words and rule.fits(clause, place):
                return rule.reading
        return None


def _in_idiom(clause: Clause, place: int) -> bool:
    """Tell a doubled word in an idiom, 比比|皆|是, from 爷爷|奶奶 and 谢谢|合作."""
    word = clause[place]
    if word.whole is None or len(word.whole.text) != 4 or len(set(word.text)) != 1:
        return False
    near = clause[max(0, place - 2) : place + 3]
    return any(len(part.text) == 1 for part in near if part.whole is word.whole)


def _read_rules() -> dict[str, list[_Rule]]:
    path = files("cosykit.synthesis.text.mandarin") / "data" / "contexts.txt"
    sets: dict[str, str] = {}
    rules: dict[str, list[_Rule]] = {}
    text = re.sub(r"\|\n +", "|", path.read_text(encoding="utf-8"))
    for line in re.sub(r"\n +", " ", text).splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("{"):
            name, words = line.split(" = ")
            sets[name] = words
            continue
        target, *rest = line.split()
        reading = syllables(" ".join(rest[: len(target)]))
        conditions = tuple(_condition(text, sets) for text in rest[len(target) :])
        rules.setdefault(target, []).append(_Rule(reading, conditions))
    return rules


def _condition(text: str, sets: dict[str, str]) -> _Condition:
    place, alternatives = text.split("=", 1)
    for name, words in sets.items():
        alternatives = alternatives.replace(name, words)
    exact: set[str] = set()
    globs: list[tuple[str, str]] = []
    for alternative in alternatives.split("|"):
        glob, _, pos = alternative.partition("/")
        if pos or "*" in glob or "?" in glob:
            globs.append((glob, pos))
        else:
            exact.add(glob)
    return _Condition(
        place.removesuffix("!"), not place.endswith("!"), frozenset(exact), tuple(globs)
    )
