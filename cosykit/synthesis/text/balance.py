"""Join and cut sentences into pieces of much the same length.

A language model speaks best what is neither a word or two nor longer than what it was
taught with.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import ceil

from cosykit.synthesis.text.punctuation import joined
from cosykit.synthesis.text.sentences import cost, split_clauses

# In tokens: 60 are about 50 Chinese characters or 45 English words, 12 to 18 s of
# speech. Upstream fills pieces up to 60 to 80, and joins a last one of less than 20.
LONGEST = 100
_LONGEST_CLAUSE = 80
_IDEAL = 60
_TINY = 20
# What a piece costs for each token that it lacks to _TINY, and for a line break in it.
_TOKEN_TOO_FEW = 0.5
_LINE_BREAK = 3.0


@dataclass(frozen=True, slots=True)
class Stretch:
    """A sentence, a part of one, or several.

    Attributes:
        text: Without spaces at its ends.
        ends_paragraph: Whether a line break followed in the original text.
    """

    text: str
    ends_paragraph: bool = False


def balanced(
    sentences: Iterable[Stretch], size_of: Callable[[str], int]
) -> list[Stretch]:
    """Make pieces that are sentences as long as these allow it.

    Args:
        size_of: Tells how many tokens a text has.
    """
    clauses = [part for each in sentences for part in _clauses(each, size_of)]
    sizes = [size_of(clause.text) for clause in clauses]
    bounds = _bounds(sizes, [clause.ends_paragraph for clause in clauses])
    return [_joined(clauses[start:end]) for start, end in bounds]


def _clauses(sentence: Stretch, size_of: Callable[[str], int]) -> Iterator[Stretch]:
    size = size_of(sentence.text)
    if size <= LONGEST:
        yield sentence
        return
    parts = ceil(size / _LONGEST_CLAUSE)
    texts = list(split_clauses(sentence.text, ceil(cost(sentence.text) / parts)))
    for number, text in enumerate(texts, 1):
        is_last = number == len(texts)
        yield Stretch(text.strip(), sentence.ends_paragraph and is_last)


def _bounds(sizes: Sequence[int], line_ends: Sequence[bool]) -> list[tuple[int, int]]:
    """Choose where pieces begin and end, so that all together cost least."""
    least = [0.0]
    starts = [0]
    for end in range(1, len(sizes) + 1):
        choices = _choices(end, sizes, line_ends)
        total, start = min((least[start] + price, start) for start, price in choices)
        least.append(total)
        starts.append(start)
    bounds = []
    end = len(sizes)
    while end:
        bounds.append((starts[end], end))
        end = starts[end]
    return bounds[::-1]


def _choices(
    end: int, sizes: Sequence[int], line_ends: Sequence[bool]
) -> Iterator[tuple[int, float]]:
    """Yield where a piece with this end may begin, and what it then costs."""
    size, line_breaks = 0, 0
    for start in range(end - 1, -1, -1):
        size += sizes[start]
        if start < end - 1:
            line_breaks += line_ends[start]
            if size > LONGEST:
                return
        missing = max(0, _TINY - size)
        price = ((size - _IDEAL) / _IDEAL) ** 2
        yield start, price + _TOKEN_TOO_FEW * missing + _LINE_BREAK * line_breaks


def _joined(clauses: Sequence[Stretch]) -> Stretch:
    text = reduce(joined, (clause.text for clause in clauses))
    return replace(clauses[-1], text=text)
