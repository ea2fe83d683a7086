"""Write pinyin in characters, for models that read nothing else."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from cosykit.synthesis.text.mandarin.lexicon import Lexicon
from cosykit.synthesis.text.mandarin.pinyin import Syllable, syllables
from cosykit.synthesis.text.scripts import HAN

_HANZI = re.compile(f"[{HAN}]+")


def homophones(word: str, pinyin: str) -> str:
    """Write a word so that it is read as the pinyin says: 重庆 as zhong4 qing4 is 众庆.

    A character that has no other reading stays. Others become a common one that has
    no other, or one that is read so as a rule; where there is none, as for most
    neutral tones, and in words that are not of hanzi alone, all stays as it is written.

    Args:
        pinyin: As `Span.reading` has it, a syllable a character.
    """
    spoken = _of_characters(syllables(pinyin))
    if len(word) != len(spoken) or not _HANZI.fullmatch(word):
        return word
    readings, common = _tables()
    return "".join(
        character if readings.get(character) == {read} else common.get(read, character)
        for character, read in zip(word, spoken, strict=True)
    )


def _of_characters(read: Sequence[Syllable]) -> Sequence[str]:
    """Part what an 儿 has melted into: it is a character of its own."""
    parts: list[str] = []
    for each in read:
        parts.append(f"{each.base}{each.tone}")
        if each.rhotic:
            parts.append("er2")
    return parts


@cache
def _tables() -> tuple[Mapping[str, set[str]], Mapping[str, str]]:
    """Collect the readings of each character, and a common character of each."""
    import rjieba

    lexicon = Lexicon()
    readings: dict[str, set[str]] = defaultdict(set)
    for character, read in lexicon.readings():
        readings[character].add(read)
    best: dict[str, tuple[bool, int, str]] = {}
    for character in _everyday():
        read = str(lexicon.character(character))
        is_sure = len(readings[character]) == 1
        found = (is_sure, rjieba.suggest_freq(character), character)
        best[read] = max(found, best.get(read, found))
    return readings, {read: character for read, (_, _, character) in best.items()}


def _everyday() -> Iterator[str]:
    """Give the characters of everyday use: the first level of GB 2312."""
    for row in range(0xB0, 0xD8):
        cells = bytes(byte for cell in range(0xA1, 0xFF) for byte in (row, cell))
        yield from cells.decode("gb2312", "ignore")
