"""The word, the unit that every step of the phonemiser passes on."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cosykit.synthesis.text.mandarin.pinyin import Syllable


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a clause.

    Attributes:
        text: Simplified hanzi, or what stands in the text where it is none.
        pos: Part of speech in jieba's letters: `n` noun, `v` verb, `nr` name...
        attached: Whether it is a part of the word before it, as 馆 in 图书馆.
        whole: The long word that it is a part of.
        syllables: How it is spoken; one a character until 儿 has melted in.
        symbols: The model's symbols of a word that is not Chinese.
    """

    text: str
    pos: str = "x"
    attached: bool = False
    whole: "Word | None" = None
    syllables: tuple[Syllable, ...] = ()
    symbols: str = ""

    def spoken(self, syllables: Iterable[Syllable]) -> "Word":
        """Return the word with other syllables."""
        return replace(self, syllables=tuple(syllables))


Clause = Sequence[Word]
"""The words between two marks of punctuation."""


def whole_words(clause: Clause) -> Iterator[list[Word]]:
    """Yield each word of a clause as the list of its parts."""
    parts: list[Word] = []
    for word in clause:
        if parts and not word.attached:
            yield parts
            parts = []
        parts.append(word)
    if parts:
        yield parts


def respoken(clause: Clause, syllables: Sequence[Syllable]) -> list[Word]:
    """Give the words of a clause other syllables, as many as they have."""
    rest = iter(syllables)
    return [word.spoken(next(rest) for _ in word.syllables) for word in clause]
