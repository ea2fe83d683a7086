"""Cut paragraphs into sentences, and overlong sentences into clauses.

Nothing is lost or said twice: the pieces are slices of the text, in order, and a piece
with nothing to speak in it stays with its neighbour.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import ceil

from cosykit.synthesis.text.normalize.abbreviations import NEVER_FINAL
from cosykit.synthesis.text.scripts import CJK, is_speakable

# A sentence of 120 Han characters or 280 Latin ones is as long as models speak well.
_CJK_COST, _LATIN_COST = 7, 3
LONGEST = 120 * _CJK_COST

_TERMINATOR = re.compile(r"[。！？!?….]+")
_NEXT_CHARACTER = re.compile(r"\s*\S?")
_CLOSING = re.compile(r"[”）)’]*")
_LAST_WORD = re.compile(r"[A-Za-z.]+\Z")
_LONGEST_ABBREVIATION = 12
_CJK_CHARACTER = re.compile(f"[{CJK}\u3000-\u303f\uff00-\uffef]")

PAUSES = (
    re.compile(r"[。！？!?….]+[”）)\"’]*(?:\s+|(?=[^\s!-~]))"),
    re.compile(r"[；;：:—](?:\s+|(?=[^\s!-~]))"),
    re.compile(r"(?:[，、)）”]|,(?=\s))\s*"),
    re.compile(r"\s+"),
)
"""Where an overlong sentence is best cut: ever weaker pauses, then between words."""


def split_sentences(paragraph: str) -> list[str]:
    """Cut a paragraph into sentences with their final punctuation.

    Joined, they are the paragraph, spaces included.
    """
    ends = [0, *sentence_ends(paragraph), len(paragraph)]
    sentences = [paragraph[start:end] for start, end in pairwise(ends)]
    clauses = (clause for sentence in sentences for clause in split_clauses(sentence))
    return join_silent(clauses)


def join_silent(pieces: Iterable[str]) -> list[str]:
    """Join each piece with nothing to speak to its neighbour, the one before first."""
    joined: list[list[str]] = []
    for piece in pieces:
        opens = not joined or (
            is_speakable(piece) and any(map(is_speakable, joined[-1]))
        )
        if opens:
            joined.append([])
        joined[-1].append(piece)
    return ["".join(parts) for parts in joined]


def sentence_ends(
    paragraph: str, closing_marks: re.Pattern[str] = _CLOSING, start: int = 0
) -> Iterator[int]:
    """Yield where sentences end before the paragraph does.

    Each is as certain as it can be: no text that is added to the paragraph changes it.

    Args:
        closing_marks: What belongs to the sentence that it follows.
        start: Where to look for the first mark that may end one.
    """
    quotes = position = 0
    for terminator in _TERMINATOR.finditer(paragraph, start):
        quotes += paragraph.count('"', position, terminator.start())
        position = terminator.end()
        closing = closing_marks.match(paragraph, position)
        end = closing.end() if closing else position
        if quotes % 2 and paragraph.startswith('"', end):
            end += 1
        if _ends_sentence(paragraph, terminator, end):
            yield end


def _ends_sentence(paragraph: str, terminator: re.Match[str], end: int) -> bool:
    marks = terminator.group()
    next_start = _NEXT_CHARACTER.match(paragraph, end)
    following = next_start.group() if next_start else ""
    if not following.strip():
        return False
    if marks == ".":
        is_inside = not (following[0].isspace() or _CJK_CHARACTER.match(following))
        return not (
            is_inside or _is_abbreviated(paragraph, terminator.start(), following)
        )
    if not marks.strip("…."):
        return re.match(r"\s+[A-Z“\"]", following) is not None
    # “Really?” she asked. goes on after the quotation.
    return end == terminator.end() or not re.match(r"\s+[a-z]", following)


def _is_abbreviated(paragraph: str, period: int, following: str) -> bool:
    word = _LAST_WORD.search(paragraph, max(0, period - _LONGEST_ABBREVIATION), period)
    if word is None:
        return False
    last = word.group()
    if last.lower() in NEVER_FINAL:
        return True
    is_initial = len(last) == 1 or last[-2] == "."
    return is_initial and last != "I" and following.strip().isalpha()


def split_clauses(sentence: str, longest: int = LONGEST) -> Iterator[str]:
    """Cut an overlong sentence at its pauses into parts of much the same length.

    Joined, they are the sentence.

    Args:
        longest: The most that a part may cost.
    """
    costs = list(accumulate(map(_cost, sentence)))
    start = used = 0
    while costs and costs[-1] - used > longest:
        rest = costs[-1] - used
        share = rest // ceil(rest / longest)
        ideal = bisect_right(costs, used + share)
        limit = bisect_right(costs, used + longest)
        cut = _cut(sentence, start, ideal, limit)
        yield sentence[start:cut]
        start, used = cut, costs[cut - 1]
    if start < len(sentence):
        yield sentence[start:]


def cost(text: str) -> int:
    """Estimate how long a text takes to speak, in thirds of a Latin letter."""
    return sum(map(_cost, text))


def _cost(char: str) -> int:
    return _LATIN_COST if char < "\u2000" else _CJK_COST


def _cut(sentence: str, start: int, ideal: int, limit: int) -> int:
    """Choose the strongest pause near the ideal place, or that place itself."""
    return pause_near(sentence, start + (ideal - start) // 2, ideal, limit) or ideal


def pause_near(
    sentence: str,
    earliest: int,
    ideal: int,
    limit: int,
    pauses: Sequence[re.Pattern[str]] = PAUSES,
) -> int | None:
    """Find where the strongest pause ends, the one nearest to the ideal place.

    Args:
        limit: Where it has to be over.
        pauses: The strongest first.
    """
    for pattern in pauses:
        ends: Sequence[int] = [
            match.end()
            for match in pattern.finditer(sentence, earliest, limit)
            if match.end() < limit
        ]
        if ends:
            return min(ends, key=lambda end: abs(end - ideal))
    return None
