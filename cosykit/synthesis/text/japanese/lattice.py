"""Text to words: the cheapest way through all words that the dictionary finds.

Every place in the text starts some words; a sequence of words costs what its words and
their neighbourhoods cost, and the cheapest is usually what the writer meant (Viterbi's
algorithm on IPADIC's costs, as in MeCab). Stretches that no word covers become words
of their own, by kind of character.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cosykit.synthesis.text.japanese.kana import lengthen, to_katakana
from cosykit.synthesis.text.japanese.lexicon import NOUN, Entry, Lexicon

_EDGE_CONTEXT = 0
_SYMBOL = "記号,一般"

# Cost of an unknown noun by kind of character; the values are those of IPADIC.
_KATAKANA_COST = 9461
_HIRAGANA_COST = 13069
_SYMBOL_COST = 17585
_LONGEST_UNKNOWN = 32

_KATAKANA_RUN = re.compile(f"[ァ-ヺー]{{1,{_LONGEST_UNKNOWN}}}")
_HIRAGANA = re.compile("[ぁ-ゖー]")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text.

    Attributes:
        surface: As written.
        pronunciation: Katakana as spoken; empty for punctuation and symbols.
        part_of_speech: IPADIC's name, such as `名詞,接尾,助数詞`.
    """

    surface: str
    pronunciation: str
    part_of_speech: str


@dataclass(frozen=True, slots=True)
class _Node:
    """An entry in its place, at the end of the cheapest way there."""

    entry: Entry
    cost: int
    previous: "_Node | None"


def split_words(text: str, lexicon: Lexicon) -> list[Word]:
    """Cut a text into words; joined, their surfaces are the text."""
    edge = Entry("", "", _EDGE_CONTEXT, 0)
    ending_at: list[list[_Node]] = [[] for _ in range(len(text) + 1)]
    ending_at[0] = [_Node(edge, 0, None)]
    for start in range(len(text)):
        if ending_at[start]:
            for entry in _candidates(text, start, lexicon):
                node = _cheapest(ending_at[start], entry, lexicon)
                ending_at[start + len(entry.surface)].append(node)
    return _words_back_from(_cheapest(ending_at[-1], edge, lexicon), lexicon)


def _candidates(text: str, start: int, lexicon: Lexicon) -> Iterator[Entry]:
    found = False
    for entry in lexicon.words_at(text, start):
        found = True
        yield entry
    katakana = _KATAKANA_RUN.match(text, start)
    if katakana:
        yield _unknown(katakana.group(), NOUN, _KATAKANA_COST, lexicon)
    elif not found and _HIRAGANA.match(text, start):
        yield _unknown(text[start], NOUN, _HIRAGANA_COST, lexicon)
    elif not found:
        yield _unknown(text[start], _SYMBOL, _SYMBOL_COST, lexicon)


def _unknown(surface: str, part_of_speech: str, cost: int, lexicon: Lexicon) -> Entry:
    pronunciation = lengthen(to_katakana(surface)) if part_of_speech == NOUN else ""
    return Entry(surface, pronunciation, lexicon.context(part_of_speech), cost)


def _cheapest(before: list[_Node], entry: Entry, lexicon: Lexicon) -> _Node:
    cost, previous = min(
        (
            (node.cost + lexicon.connection(node.entry.context, entry.context), node)
            for node in before
        ),
        key=lambda way: way[0],
    )
    return _Node(entry, cost + entry.cost, previous)


def _words_back_from(end: _Node, lexicon: Lexicon) -> list[Word]:
    words = []
    node = end.previous
    while node and node.previous:
        entry = node.entry
        part_of_speech = lexicon.parts_of_speech[entry.context]
        words.append(Word(entry.surface, entry.pronunciation, part_of_speech))
        node = node.previous
    return words[::-1]
