"""Words to the stretches that are spoken without a gap.

The voice was trained on text with a space between words, where an inflected verb with
its endings counts as one word: 食べ, られ, まし, た are spoken タベラレマシタ.
"""

from collections.abc import Iterable

from cosykit.synthesis.text.japanese.lattice import Word

_INFLECTED = ("動詞", "形容詞", "助動詞")
_ENDINGS = ("動詞,接尾", "形容詞,接尾")
_SUFFIX = "名詞,接尾"
_PREFIXES = ("接頭詞,名詞接続", "接頭詞,動詞接続", "接頭詞,形容詞接続")
_VERBAL_ENDING = "助動詞"
_VERBAL_PARTICLE = "助詞,接続助詞"
_PARTICLES_OF_ENDINGS = frozenset(("て", "で", "ば", "ちゃ", "じゃ", "たり", "だり"))
_FREE = frozenset(("です", "でし", "でしょ", "だろ", "だっ", "な", "らしい", "みたい"))
"""Auxiliaries that follow nouns as well, and stand apart."""


def phrases(words: Iterable[Word]) -> list[str]:
    """Join the pronunciations of words; punctuation stays as it is written."""
    joined: list[str] = []
    previous: Word | None = None
    for word in words:
        if previous and word.pronunciation and _continues(previous, word):
            first, *rest = word.pronunciation.split()
            joined[-1] += "ー" if first == "ウ" else first
        else:
            rest = (word.pronunciation or word.surface).split()
        joined += rest
        previous = word if word.pronunciation else None
    return joined


def _continues(previous: Word, word: Word) -> bool:
    if previous.pronunciation[-1] == "ッ" or word.pronunciation[0] in "ーンッ":
        return True
    if previous.part_of_speech.startswith(_PREFIXES):
        return True
    if word.part_of_speech.startswith(_SUFFIX):
        return True
    return previous.part_of_speech.startswith(_INFLECTED) and _is_ending(word)


def _is_ending(word: Word) -> bool:
    if word.part_of_speech.startswith(_VERBAL_ENDING):
        return word.surface not in _FREE
    is_particle = word.part_of_speech == _VERBAL_PARTICLE
    return word.part_of_speech.startswith(_ENDINGS) or (
        is_particle and word.surface in _PARTICLES_OF_ENDINGS
    )
