"""Byte pair encoding of one word."""

from collections.abc import Mapping
from heapq import heapify, heappop, heappush


def encode_word(word: bytes, ranks: Mapping[bytes, int]) -> list[int]:
    """Join the pair of the lowest rank, the leftmost first, until none is left.

    Takes time in proportion to the word, but for a logarithm.

    Args:
        word: Any bytes but none.
        ranks: Ids of all tokens by their bytes, single bytes included; the lower the
            earlier they are joined.
    """
    if (whole := ranks.get(word)) is not None:
        return [whole]
    # Part i begins at byte i and ends at ends[i]; 0 marks bytes that begin none.
    size = len(word)
    ends = list(range(1, size + 1))
    starts_before = list(range(-1, size))
    waiting = [
        (rank, start, start + 2)
        for start in range(size - 1)
        if (rank := ranks.get(word[start : start + 2])) is not None
    ]
    heapify(waiting)
    while waiting:
        _, start, end = heappop(waiting)
        middle = ends[start]
        if middle in (0, size) or ends[middle] != end:
            continue
        ends[start], ends[middle] = end, 0
        starts_before[end] = start
        before = starts_before[start]
        after = ends[end] if end < size else 0
        for left, right in ((before, end), (start, after)):
            rank = ranks.get(word[left:right]) if left >= 0 and right else None
            if rank is not None:
                heappush(waiting, (rank, left, right))
    return [ranks[word[start:end]] for start, end in enumerate(ends) if end]
