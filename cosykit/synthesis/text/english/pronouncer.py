"""Say how one word sounds: looked up, inflected, spelt, put together or guessed.

lexicon ─▶ regular ending ─▶ acronym ─▶ parts of a compound ─▶ guess
"""

import re
from functools import lru_cache

from cosykit.synthesis.text.english.affixes import affixed
from cosykit.synthesis.text.english.compounds import joined
from cosykit.synthesis.text.english.function_words import is_function_word
from cosykit.synthesis.text.english.inflection import (
    analyses,
    attach,
    tapped,
    unknown_stem,
)
from cosykit.synthesis.text.english.letter_to_sound import LetterToSound
from cosykit.synthesis.text.english.lexicon import Entry, Lexicon
from cosykit.synthesis.text.english.part_of_speech import Tag
from cosykit.synthesis.text.english.pinyin_names import chinese_name
from cosykit.synthesis.text.english.stress import (
    PRIMARY,
    SECONDARY,
    VOWELS,
    demoted,
    with_stress,
)
from cosykit.synthesis.text.english.tokens import parts
from cosykit.synthesis.text.normalize import english_numbers

_ACRONYM = re.compile("[A-Z]{2,}")
_ACRONYM_WITH_S = re.compile("([A-Z]{2,})'?s")
_NUMBER = re.compile(r"(\d[\d,]*(?:\.\d+)?)(s|st|nd|rd|th)?")
_DOTTED = re.compile(r"[A-Za-z](?:\.[A-Za-z])+\.?")
_PLAIN = re.compile("[A-Za-z][a-z']+")
_VOWEL_LETTERS = re.compile("[aeiouy]")
_UNPRONOUNCEABLE = re.compile("[^aeiouy]{4}")

_SYMBOLS = {"&": "and", "+": "plus", "#": "sharp", ".": "dot"}
_LONGEST_SPELT = 5
_SHORTEST_PART = 3
_LONGEST_WORD = 40
_CACHED_GUESSES = 4096


class Pronouncer:
    """Finds the phonemes of words in ASCII letters and digits."""

    def __init__(self, lexicon: Lexicon, letters: LetterToSound) -> None:
        self._lexicon = lexicon
        self._letters = letters
        self._guess = lru_cache(_CACHED_GUESSES)(self._guessed)

    def phonemes(self, word: str, tag: Tag | None = None, pause: bool = False) -> str:
        """Pronounce a word; every letter and digit of it is heard somehow.

        Args:
            word: A word, an acronym, or a compound such as `GPT-4o`.
            tag: Its part of speech.
            pause: Whether a pause follows.
        """
        if len(word) > _LONGEST_WORD:
            starts = range(0, len(word), _LONGEST_WORD)
            return " ".join(
                self.phonemes(word[start : start + _LONGEST_WORD]) for start in starts
            )
        if word in _SYMBOLS:
            return self._known(_SYMBOLS[word])
        number = _NUMBER.fullmatch(word)
        if number:
            return self._number(number)
        if _DOTTED.fullmatch(word):
            return self._spelt(word.replace(".", ""))
        return (
            self._acronym(word)
            or self._known(word, tag, pause)
            or self._compound(word, pause)
            or self._guess(word.replace("'", "").lower())
        )

    def _known(self, word: str, tag: Tag | None = None, pause: bool = False) -> str:
        """Look a word up, or the stem that it is inflected from."""
        entry = self._find(word)
        sound = entry.reading(tag, pause) if entry else self._inflected(word, tag)
        if not sound and word.islower() and len(word) <= _LONGEST_SPELT:
            acronym = self._lexicon.find(word.upper())
            sound = acronym.phonemes if acronym else ""
        return sound if word.islower() else with_stress(sound, SECONDARY)

    def _inflected(self, word: str, tag: Tag | None) -> str:
        for stem, ending in analyses(word):
            sound = self._known(stem, tag) if stem else ""
            if sound:
                return attach(sound, ending)
        return ""

    def _find(self, word: str) -> Entry | None:
        """Look a word up in its own spelling, or with other capitals."""
        lower = word.lower()
        other = lower.capitalize() if word == lower else lower
        return self._lexicon.find(word) or self._lexicon.find(other)

    def _acronym(self, word: str) -> str:
        """Spell a word in capitals, unless it is pronounced; nothing if it is none."""
        with_s = _ACRONYM_WITH_S.fullmatch(word)
        if with_s and not self._lexicon.find(word):
            return attach(self._acronym(with_s.group(1)), "s")
        if not _ACRONYM.fullmatch(word):
            return ""
        entry = self._lexicon.find(word)
        if entry:
            spelt = entry.by_tag.get("NOUN") == ""
            return self._spelt(word) if spelt else with_stress(entry.phonemes, PRIMARY)
        lower = word.lower()
        if self._is_shouted(lower):
            return with_stress(self._known(lower), PRIMARY)
        if len(word) <= _LONGEST_SPELT or not _is_pronounceable(lower):
            return self._spelt(word)
        return self._guess(lower)

    def _is_shouted(self, word: str) -> bool:
        """Tell a common word in capitals from an acronym that looks like one."""
        if len(word) < _SHORTEST_PART:
            return is_function_word(word)
        if len(word) > _LONGEST_SPELT:
            return bool(self._known(word))
        return bool(self._certain(word))

    def _spelt(self, letters: str) -> str:
        """Spell letters; the last one has the stress."""
        names = [self._letter(letter) for letter in letters.upper()]
        *others, last = names
        return "".join(map(demoted, others)) + last

    def _letter(self, letter: str) -> str:
        entry = self._lexicon.find(letter)
        return entry.phonemes if entry else ""

    def _compound(self, word: str, pause: bool) -> str:
        """Pronounce the parts of a compound; nothing if there is only one."""
        pieces = parts(word)
        if len(pieces) < 2:
            return ""
        *others, last = pieces
        sounds = [*map(self.phonemes, others), self.phonemes(last, pause=pause)]
        if "_" in word or not all(map(_PLAIN.fullmatch, pieces)):
            return " ".join(sounds)
        return joined(sounds, pieces)

    def _number(self, written: re.Match[str]) -> str:
        text, ending = written.groups()
        digits = text.replace(",", "")
        if "." in digits:
            words = english_numbers.number(digits)
        elif ending and ending != "s":
            words = english_numbers.ordinal(digits)
        elif len(digits) in (3, 4) and "," not in text:
            words = english_numbers.pairs(digits)
        else:
            words = english_numbers.cardinal(digits)
        sound = " ".join(self._known(word) for word in re.split("[ -]", words))
        return attach(sound, "s") if ending == "s" else sound

    def _guessed(self, word: str) -> str:
        """Pronounce a word of the letters a to z that is in no dictionary."""
        if not _VOWEL_LETTERS.search(word):
            return self._spelt(word) if word else ""
        return (
            self._affixed(word)
            or self._two_words(word, shortest=_SHORTEST_PART + 1)
            or chinese_name(word)
            or self._two_words(word, shortest=_SHORTEST_PART)
            or self._uninflected(word)
            or self._read(word)
            or self._spelt(word)
        )

    def _read(self, word: str) -> str:
        sound = self._letters.phonemes(word)
        return sound if VOWELS.intersection(sound) else ""

    def _two_words(self, word: str, shortest: int) -> str:
        """Read a closed compound such as webpage; its first part has the stress."""
        for cut in sorted(
            range(shortest, len(word) - shortest + 1),
            key=lambda cut: abs(2 * cut - len(word)),
        ):
            first, second = self._certain(word[:cut]), self._certain(word[cut:])
            if first and second:
                return first + demoted(second)
        return ""

    def _certain(self, word: str) -> str:
        """Look up a common word, or the common word that it is inflected from."""
        entry = self._lexicon.find(word)
        if entry:
            return entry.phonemes if entry.certain else ""
        for stem, ending in analyses(word):
            entry = self._lexicon.find(stem)
            if entry and entry.certain:
                return attach(entry.phonemes, ending)
        return ""

    def _affixed(self, word: str) -> str:
        for before, stem, behind in affixed(word):
            sound = self._certain(stem)
            if sound:
                return before + (tapped(sound) if behind else sound) + behind
        return ""

    def _uninflected(self, word: str) -> str:
        inflected = unknown_stem(word)
        if inflected is None:
            return ""
        return attach(self._guess(inflected.stem), inflected.ending)


def _is_pronounceable(word: str) -> bool:
    enough_vowels = 4 * len(_VOWEL_LETTERS.findall(word)) >= len(word)
    return enough_vowels and not _UNPRONOUNCEABLE.search(word)
