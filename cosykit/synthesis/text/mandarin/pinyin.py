"""Hanyu pinyin: the syllables of Mandarin and how people write them."""

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache

from cosykit.errors import InputError, quoted

NEUTRAL = 5

_FINALS_AFTER = {
    "": "a ai an ang ao e ei en eng er o ou ê",
    "b": "a ai an ang ao ei en eng i ian iang iao ie in ing o u",
    "p": "a ai an ang ao ei en eng i ian iao ie in ing o ou u",
    "m": "a ai an ang ao e ei en eng i ian iao ie in ing iu o ou u",
    "f": "a an ang ei en eng iao o ou u",
    "d": "a ai an ang ao e ei en eng i ia ian iao ie ing iu ong ou u uan ui un uo",
    "t": "a ai an ang ao e ei eng i ian iao ie ing ong ou u uan ui un uo",
    "n": "a ai an ang ao e ei en eng i ia ian iang iao ie in ing iu ong ou u uan un uo"
    " ü üe",
    "l": "a ai an ang ao e ei eng i ia ian iang iao ie in ing iu o ong ou u uan un uo"
    " ü üan üe",
    "g": "a ai an ang ao e ei en eng ong ou u ua uai uan uang ui un uo",
    "k": "a ai an ang ao e ei en eng ong ou u ua uai uan uang ui un uo",
    "h": "a ai an ang ao e ei en eng ong ou u ua uai uan uang ui un uo",
    "j": "i ia ian iang iao ie in ing iong iu u uan ue un",
    "q": "i ia ian iang iao ie in ing iong iu u uan ue un",
    "x": "i ia ian iang iao ie in ing iong iu u uan ue un",
    "zh": "a ai an ang ao e ei en eng i ong ou u ua uai uan uang ui un uo",
    "ch": "a ai an ang ao e en eng i ong ou u ua uai uan uang ui un uo",
    "sh": "a ai an ang ao e ei en eng i ou u ua uai uan uang ui un uo",
    "r": "an ang ao e en eng i ong ou u ua uan ui un uo",
    "z": "a ai an ang ao e ei en eng i ong ou u uan ui un uo",
    "c": "a ai an ang ao e ei en eng i ong ou u uan ui un uo",
    "s": "a ai an ang ao e ei en eng i ong ou u uan ui un uo",
    "y": "a ai an ang ao e i in ing o ong ou u uan ue un",
    "w": "a ai an ang ei en eng o u",
}
_INTERJECTIONS = ("hm", "hng", "m", "n", "ng")

SYLLABLES = frozenset(
    initial + final
    for initial, finals in _FINALS_AFTER.items()
    for final in finals.split()
).union(_INTERJECTIONS)
"""Every syllable of the standard language, without its tone."""

_TONE_OF_MARK = {"\u0304": 1, "\u0301": 2, "\u030c": 3, "\u0300": 4}
_LETTERS_AND_TONE = re.compile(r"((?:[^\W\d_][\u0300-\u030c]?)+)([0-5]?)")
_LONGEST = max(map(len, SYLLABLES))


@dataclass(frozen=True, slots=True)
class Syllable:
    """One syllable as it is spoken.

    Attributes:
        base: Toneless pinyin with `ü` spelt as such, one of `SYLLABLES`.
        tone: 1 to 4, or 5 for the neutral tone.
        rhotic: Whether an 儿 has melted into it, as in huār.
        full_tone: The tone that a neutral syllable has lost; 5 where it has none.
    """

    base: str
    tone: int
    rhotic: bool = False
    full_tone: int = NEUTRAL

    def __str__(self) -> str:
        return f"{self.base}{'r' if self.rhotic else ''}{self.tone}"

    def with_tone(self, tone: int) -> "Syllable":
        """Return the same syllable in another tone."""
        return replace(self, tone=tone)

    def weakened(self, full_tone: int) -> "Syllable":
        """Return the same syllable in the neutral tone."""
        return replace(self, tone=NEUTRAL, full_tone=full_tone)


@lru_cache(maxsize=4096)
def syllable(text: str) -> Syllable:
    """Read one syllable of the data files, such as `lü4`, `er2` or `dianr3`."""
    base, tone = text[:-1], int(text[-1])
    rhotic = base not in SYLLABLES and base.endswith("r")
    return Syllable(base[:-1] if rhotic else base, tone, rhotic)


def syllables(text: str) -> tuple[Syllable, ...]:
    """Read the spaced syllables of the data files, such as `yin2 hang2`."""
    return tuple(map(syllable, text.split()))


def parse_reading(text: str) -> tuple[Syllable, ...]:
    """Read pinyin as a person writes it.

    Tones are digits (`nü3`; 5, 0 or none is neutral) or marks (`nǚ`); ü may be `v`
    or `u:`; syllables are separated by spaces, hyphens or apostrophes, or joined
    (`chóngqìng`); a final r makes the syllable rhotic (`huar1`).

    Raises:
        InputError: The text is not pinyin.
    """
    plain = re.sub(r"u:|v", "ü", unicodedata.normalize("NFC", text).lower())
    read: list[Syllable] = []
    for chunk in re.split(r"[\s'’\-,.·]+", plain.strip()):
        matches = list(_LETTERS_AND_TONE.finditer(chunk))
        if "".join(match.group() for match in matches) != chunk:
            raise _not_pinyin(text, chunk)
        for match in matches:
            letters, digit = match.groups()
            parts = _split_joined(letters)
            if not parts or (digit and any(tone != NEUTRAL for _, tone in parts)):
                raise _not_pinyin(text, match.group())
            read += [_spoken(base, tone) for base, tone in parts[:-1]]
            base, tone = parts[-1]
            read.append(_spoken(base, int(digit or tone) or NEUTRAL))
    if not read:
        raise _not_pinyin(text, text)
    return tuple(read)


def _spoken(base: str, tone: int) -> Syllable:
    rhotic = base not in SYLLABLES
    return Syllable(base[:-1] if rhotic else base, tone, rhotic)


def _split_joined(letters: str) -> list[tuple[str, int]]:
    """Split joined syllables into as few as possible; empty when it cannot be done."""
    best: list[list[tuple[str, int]] | None] = [[]]
    for end in range(1, len(letters) + 1):
        found: list[tuple[str, int]] | None = None
        # The earliest start first: a consonant belongs to the vowel after it, so
        # `fangan` is fan gan; fang'an needs its apostrophe.
        for start in range(max(0, end - _LONGEST - 1), end):
            before, last = best[start], _untoned(letters[start:end])
            if before is None or last is None:
                continue
            if found is None or len(before) + 1 < len(found):
                found = [*before, last]
        best.append(found)
    return best[-1] or []


def _untoned(letters: str) -> tuple[str, int] | None:
    """Take the tone mark off one written syllable; None when it is not one."""
    decomposed = unicodedata.normalize("NFD", letters)
    marks = [mark for mark in decomposed if mark in _TONE_OF_MARK]
    base = unicodedata.normalize(
        "NFC", "".join(char for char in decomposed if char not in _TONE_OF_MARK)
    )
    base = re.sub(r"^([jqxy])ü", r"\1u", base)
    known = base in SYLLABLES or (base.endswith("r") and base[:-1] in SYLLABLES)
    if not known or len(marks) > 1:
        return None
    return base, _TONE_OF_MARK[marks[0]] if marks else NEUTRAL


def _not_pinyin(text: str, part: str) -> InputError:
    return InputError(
        f"{quoted(text)} is not pinyin: no syllable {quoted(part)}",
        hint="Write each syllable with its tone, such as 'chong2 qing4' or 'nü3 ér'",
        param="pronunciations",
    )
