"""Prefixes and suffixes that words are built with on the spot: un-, micro-, -izer."""

from collections.abc import Iterator
from typing import NamedTuple

_PREFIXES = {
    "anti": "ˌænti", "auto": "ˌɔTO", "bio": "bˌIO", "co": "kO", "counter": "kˌWntəɹ",
    "crypto": "kɹˌɪptO", "cyber": "sˌIbəɹ", "de": "di", "dis": "dɪs", "geo": "ʤˌiO",
    "hyper": "hˌIpəɹ", "inter": "ˌɪntəɹ", "macro": "mˌækɹO", "mega": "mˌɛɡə",
    "meta": "mˌɛTə", "micro": "mˌIkɹO", "mini": "mˌɪni", "mis": "mɪs", "mono": "mˌɑnO",
    "multi": "mˌʌlti", "nano": "nˌænO", "neuro": "nˌʊɹO", "non": "nˌɑn",
    "over": "ˌOvəɹ", "para": "pˌɛɹə", "poly": "pˌɑli", "post": "pˌOst", "pre": "pɹˌi",
    "pseudo": "sˌudO", "re": "ɹi", "self": "sˌɛlf", "semi": "sˌɛmi", "sub": "sˌʌb",
    "super": "sˌupəɹ", "tele": "tˌɛlə", "trans": "tɹˌænz", "ultra": "ˌʌltɹə",
    "un": "ʌn", "under": "ˌʌndəɹ",
}  # fmt: skip
_SUFFIXES = {
    "able": "əbᵊl", "er": "əɹ", "est": "əst", "ful": "fᵊl", "hood": "hˌʊd",
    "ish": "ɪʃ", "ism": "ˌɪzᵊm", "ist": "ɪst", "ize": "ˌIz", "izer": "ˌIzəɹ",
    "less": "ləs", "like": "lˌIk", "ly": "li", "ness": "nəs", "ship": "ʃˌɪp",
    "wise": "wˌIz", "y": "i",
}  # fmt: skip
_SHORTEST_STEM = 4


class Affixed(NamedTuple):
    """A word that may be a stem with something before or behind it."""

    before: str
    stem: str
    behind: str


def affixed(word: str) -> Iterator[Affixed]:
    """List the stems that a word may be built on, with the sounds of the rest."""
    for length in range(2, 8):
        stem = word[length:]
        if word[:length] in _PREFIXES and len(stem) >= _SHORTEST_STEM:
            yield Affixed(_PREFIXES[word[:length]], stem, "")
    for length in range(1, 5):
        stem, suffix = word[:-length], word[-length:]
        if suffix in _SUFFIXES and len(stem) >= _SHORTEST_STEM:
            yield Affixed("", stem, _SUFFIXES[suffix])
            if suffix[0] in "aeiy":
                yield Affixed("", stem + "e", _SUFFIXES[suffix])
