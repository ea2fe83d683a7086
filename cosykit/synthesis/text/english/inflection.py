"""Regular endings, taken off a spelling and put onto a sound: -s, -ed, -ing, 'll...

Source: misaki en.py Lexicon (hexgrad/misaki, Apache-2.0), whose endings are the ones
that the model was trained on.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

Ending = Literal["s", "ed", "ing", "'d", "'ll", "'re", "'ve"]

# After these a t before a vowel is tapped: butter, voted.
_TAPPING = frozenset("AIOWYiuæɑəɛɪɹʊʌ")
_CONTRACTED: Mapping[Ending, str] = {"'d": "əd", "'ll": "ᵊl", "'re": "əɹ", "'ve": "əv"}
_SILENT_E = re.compile("^[^aeiou]*[aeiou][bcdgkmpstvz]$|[csvz]$")
_DOUBLED = re.compile(r"([bdgklmnprtvz])\1")


class Inflected(NamedTuple):
    """A word that may be a stem with an ending."""

    stem: str
    ending: Ending


def analyses(word: str) -> Iterator[Inflected]:
    """List what a word may be an inflection of, the likeliest first."""
    yield from _with_s(word)
    yield from _with_ed(word)
    yield from _with_ing(word)
    for ending in _CONTRACTED:
        if word.endswith(ending):
            yield Inflected(word.removesuffix(ending), ending)


def _with_s(word: str) -> Iterator[Inflected]:
    if word.endswith("s'"):
        word = word[:-1]
    if word.endswith("'s"):
        yield Inflected(word[:-2], "s")
    elif len(word) > 2 and word.endswith("s") and not word.endswith("ss"):
        yield Inflected(word[:-1], "s")
        if len(word) > 4 and word.endswith("ies"):
            yield Inflected(word[:-3] + "y", "s")
        elif len(word) > 4 and word.endswith("es"):
            yield Inflected(word[:-2], "s")


def _with_ed(word: str) -> Iterator[Inflected]:
    if len(word) < 4 or not word.endswith("ed"):
        return
    yield Inflected(word[:-1], "ed")
    if word.endswith("ied"):
        yield Inflected(word[:-3] + "y", "ed")
    elif not word.endswith("eed"):
        yield Inflected(word[:-2], "ed")
        if _DOUBLED.match(word[-4:-2]):
            yield Inflected(word[:-3], "ed")


def _with_ing(word: str) -> Iterator[Inflected]:
    if len(word) < 5 or not word.endswith("ing"):
        return
    if len(word) > 5:
        yield Inflected(word[:-3], "ing")
    yield Inflected(word[:-3] + "e", "ing")
    if len(word) > 5 and _DOUBLED.match(word[-5:-3]):
        yield Inflected(word[:-4], "ing")


def unknown_stem(word: str) -> Inflected | None:
    """Take the ending off a word whose stem is in no dictionary either."""
    if len(word) < 6:
        return None
    if word.endswith("s") and word[-2] not in "aiosu":
        return Inflected(word[:-3] + "y" if word.endswith("ies") else word[:-1], "s")
    if word.endswith("ing"):
        return Inflected(_with_silent_e(word[:-3]), "ing")
    if word.endswith("ed") and word[-3] not in "aeo":
        return Inflected(_with_silent_e(word[:-2]), "ed")
    return None


def _with_silent_e(rest: str) -> str:
    """Spell a stem that lost its ending: vib(ing) as vibe, pinn(ing) as pin."""
    if _DOUBLED.fullmatch(rest[-2:]):
        return rest[:-1]
    return rest + "e" if _SILENT_E.search(rest) else rest


def attach(phonemes: str, ending: Ending) -> str:
    """Add an ending to the sound of a stem."""
    if not phonemes:
        return ""
    match ending:
        case "s":
            return phonemes + _s_after(phonemes[-1])
        case "ed":
            return _attach_ed(phonemes)
        case "ing":
            return tapped(phonemes) + "ɪŋ"
        case "'d" if phonemes[-1] not in "td":
            return phonemes + "d"
        case _:
            return phonemes + _CONTRACTED[ending]


def _s_after(sound: str) -> str:
    if sound in "ptkfθ":
        return "s"
    return "ᵻz" if sound in "szʃʒʧʤ" else "z"


def _attach_ed(phonemes: str) -> str:
    if phonemes[-1] in "pkfθʃsʧ":
        return phonemes + "t"
    if phonemes[-1] in "td":
        return tapped(phonemes) + "ᵻd"
    return phonemes + "d"


def tapped(phonemes: str) -> str:
    """Soften a final t, as it is before a vowel: vote, but voting."""
    if phonemes[-1] == "t" and phonemes[-2:-1] and phonemes[-2] in _TAPPING:
        return phonemes[:-1] + "T"
    return phonemes
