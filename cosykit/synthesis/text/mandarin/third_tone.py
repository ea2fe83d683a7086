"""Third tones in a row: all but the last of a group become second tones.

Groups close from the inside out: 小|老虎 is xiǎo láohǔ, 展览|馆 zhánlánguǎn. Across
words, monosyllables pair up from the left and a lone one leans on its neighbour:
我想|买|水果 is wó xiáng mǎi shuíguǒ. Inside a word the model raises them by itself,
with the same pitch; across words it needs to be told.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from cosykit.synthesis.text.mandarin.pinyin import NEUTRAL, Syllable
from cosykit.synthesis.text.mandarin.words import Clause, Word, respoken, whole_words

# Before these the rest of a word of three characters belongs together: 小|老虎.
_PREFIXES = frozenset("小老大副总好不很我你他可有是看打吃买去来没又再最更太新旧高低")

_Group = int | list["_Group"]
"""The place of a syllable, or groups that close before they meet."""


def change_third_tones(clause: Clause) -> list[Word]:
    """Raise every third tone that a third tone follows in its group."""
    spoken = [syllable for word in clause for syllable in word.syllables]
    place = 0
    for stretch in _stretches(clause):
        words: list[list[_Group]] = []
        for parts in whole_words(stretch):
            groups: list[_Group] = []
            for part in parts:
                places = range(place, place + len(part.syllables))
                groups.append(_halves(places, part.text[0] in _PREFIXES))
                _raise_repeated_verb(part, places, spoken)
                place = places.stop
            words.append(groups)
        _close(_feet(words), spoken)
    return respoken(clause, spoken)


def _stretches(clause: Clause) -> Iterator[list[Word]]:
    """Yield what lies between words of other languages."""
    stretch: list[Word] = []
    for word in clause:
        if word.syllables:
            stretch.append(word)
        elif stretch:
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def _halves(places: range, prefixed: bool) -> _Group:
    """Group a word as 1+2 after a prefix, else in pairs."""
    if len(places) == 3 and prefixed:
        return [places[0], [*places[1:]]]
    return [[*places[start : start + 2]] for start in range(0, len(places), 2)]


def _feet(words: Sequence[list[_Group]]) -> list[_Group]:
    """Pair monosyllables from the left; a lone one joins the word after or before."""
    feet: list[list[_Group]] = []
    place = 0
    while place < len(words):
        word = words[place]
        last = place == len(words) - 1
        if _size(word) > 1:
            feet.append([word])
            place += 1
        elif last and feet:
            feet[-1].append(word)
            place += 1
        else:
            feet.append([*words[place : place + 2]])
            place += 2
    return [*feet]


def _size(group: _Group) -> int:
    return 1 if isinstance(group, int) else sum(map(_size, group))


def _close(group: _Group, spoken: list[Syllable]) -> tuple[int, int]:
    """Close a group's parts, then let them meet; return its first and last place."""
    if isinstance(group, int):
        return group, group
    edges = [_close(part, spoken) for part in group]
    for (_, end), (start, _) in pairwise(edges):
        if spoken[end].tone == spoken[start].tone == 3:
            spoken[end] = spoken[end].with_tone(2)
    return edges[0][0], edges[-1][1]


def _raise_repeated_verb(word: Word, places: range, spoken: list[Syllable]) -> None:
    """Speak 想想 as xiángxiang: its neutral syllable still counts as third."""
    if len(word.text) != 2 or word.text[0] != word.text[1] or word.pos[0] != "v":
        return
    first, second = (spoken[place] for place in places)
    if first.tone == 3 and second.tone == NEUTRAL:
        spoken[places[0]] = first.with_tone(2)
