"""The pronouncing dictionary: characters, words and the variants of characters.

The tables in `data/`:

    characters.txt words.txt   pypinyin's dictionary, made compact: a word is there only
                               where its reading does not follow from its characters
    readings.txt neutral.txt   our own entries, which win over the dictionary
    contexts.txt               words read by their neighbours: `polyphones`
    traditional.txt            traditional characters and their simplified forms

Importing pypinyin itself costs 57 MB and 0.25 s; these tables cost 8 MB and 0.04 s.
"""

import re
from collections.abc import Iterator
from importlib.resources import files
from sys import intern

from cosykit.synthesis.text.mandarin.pinyin import Syllable, syllable, syllables

UNREADABLE = "某"
"""What is said for a character that no dictionary reads: mǒu, so-and-so."""

_TRADITIONAL_ONLY = re.compile(
    "(?<![名原论巨专显编遗译土拙合卓昭])著(?![名作称述者录有])"
    "|乾(?![隆坤县陵清卦元宁道德符])"
)
"""著 and 乾 where simplified Chinese writes 着 and 干."""


class Lexicon:
    """Readings by word and by character."""

    def __init__(self) -> None:
        self._characters = _read_characters()
        self._words = _read_pairs("words.txt")
        self._own: set[str] = set()
        self._neutral: set[str] = set()
        self._simplified = _read_variants()
        self._read_own_readings()
        self._read_neutral_words()

    def character(self, char: str) -> Syllable:
        """Return the usual reading of a character."""
        return syllable(self._characters.get(char) or self._characters[UNREADABLE])

    def readings(self) -> Iterator[tuple[str, str]]:
        """Give all characters with each reading that they have, alone or in words."""
        yield from self._characters.items()
        for word, reading in self._words.items():
            spoken = reading.split()
            if len(spoken) == len(word):
                yield from zip(word, spoken, strict=True)

    def word(self, word: str) -> tuple[Syllable, ...] | None:
        """Return the reading of a word; None where its characters tell it."""
        reading = self._words.get(word)
        return None if reading is None else syllables(reading)

    def is_own(self, word: str) -> bool:
        """Tell whether we have a reading of our own for a word."""
        return word in self._own

    def ends_neutral(self, word: str) -> bool:
        """Tell whether a word is in our list of those that end in a neutral tone."""
        return word in self._neutral

    def simplified(self, text: str) -> str:
        """Write traditional characters in their simplified form, one for one."""
        return _TRADITIONAL_ONLY.sub(_simplify, text.translate(self._simplified))

    def _read_own_readings(self) -> None:
        """Read the characters, which come first, then the words spelt with them."""
        for line in _lines("readings.txt"):
            if " = " in line:
                self._add(*line.split(" = "))
            elif ": " in line:
                rule, words = line.split(": ")
                char, reading = rule.split()
                for word in words.split():
                    self._add(word, self._with_character(word, char, reading))
            else:
                char, reading = line.split()
                self._characters[char] = reading

    def _read_neutral_words(self) -> None:
        for line in _lines("neutral.txt"):
            self._neutral.update(line.split())
        for word in self._neutral:
            self._add(word, self._spelled(word)[:-1] + "5")

    def _add(self, word: str, reading: str) -> None:
        self._words[word] = reading
        self._own.add(word)

    def _with_character(self, word: str, char: str, reading: str) -> str:
        spelled = self._spelled(word).split()
        return " ".join(
            reading if spoken == char else usual
            for spoken, usual in zip(word, spelled, strict=True)
        )

    def _spelled(self, word: str) -> str:
        if word in self._words:
            return self._words[word]
        spelled = " ".join(self._characters[char] for char in word)
        # At the end of a word 子 is a suffix, unless an entry says otherwise.
        return spelled[:-1] + "5" if word.endswith("子") else spelled


def _lines(name: str) -> list[str]:
    path = files("cosykit.synthesis.text.mandarin") / "data" / name
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _read_characters() -> dict[str, str]:
    """Read lines of a reading and the characters that have it."""
    readings: dict[str, str] = {}
    for line in _lines("characters.txt"):
        reading, characters = line.split(" ")
        readings.update(dict.fromkeys(characters, intern(reading)))
    return readings


def _read_pairs(name: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for line in _lines(name):
        word, reading = line.split(" ", 1)
        pairs[word] = reading
    return pairs


def _read_variants() -> dict[int, str]:
    traditional, simplified = _lines("traditional.txt")
    return dict(zip(map(ord, traditional), simplified, strict=True))


def _simplify(match: re.Match[str]) -> str:
    return "着" if match[0] == "著" else "干"
