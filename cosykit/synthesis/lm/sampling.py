"""Choose the next speech token of every sequence of a batch.

Repetition-aware: a token is drawn from the nucleus, the few most probable tokens. If
the sequence had that token of late, it is drawn again, from all other tokens.

After a step of the model the processor's caches hold nothing of this. A call of numpy
then takes some 25 us, however little it computes. So what goes over the vocabulary is
done for all sequences in one call, and what is small is left to lists.

Source: cosyvoice/utils/common.py ras_sampling, nucleus_sampling
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from cosykit.types import Sampling

Array = NDArray[np.float32]
Draws = tuple[float, float]
"""Uniform numbers from 0 to 1 that a choice consumes, used or not."""

# To find the best tokens, the vocabulary is looked at in so many groups: their best
# ones tell how good a token must be. 8 rows of 4,097 take 0.1 ms instead of 0.34.
_GROUPS = 64


@dataclass(frozen=True, slots=True)
class Choice:
    """What decides about a sequence's next token, beside its scores.

    Attributes:
        recent: The last tokens of the sequence, at most the window of them.
        may_end: Whether the last token of the vocabulary may be chosen.
    """

    recent: Sequence[int]
    draws: Draws
    parameters: Sampling
    may_end: bool


def choose(
    scores: NDArray[np.float32], choices: Sequence[Choice]
) -> Sequence[int | None]:
    """Choose a token for every sequence.

    Args:
        scores: Log-probabilities, (batch, vocabulary); the last token ends the speech.
        choices: One for each row.

    Returns:
        The tokens; None where the scores are no numbers.
    """
    probabilities = np.exp(scores)
    probabilities[[not choice.may_end for choice in choices], -1] = 0
    # Without the last token they add up to less than 1.
    totals = probabilities.sum(axis=1).tolist()
    best = _best(probabilities, max(choice.parameters.top_k for choice in choices))
    rows = zip(probabilities, totals, best, choices, strict=True)
    return [_choose(*row) for row in rows]


def _best(probabilities: Array, count: int) -> Sequence[Sequence[tuple[float, int]]]:
    """Give tokens of each row with their probabilities, at least so many, best first.

    Where a row is no numbers, there may be fewer.
    """
    batch, vocabulary = probabilities.shape
    groups = min(max(_GROUPS, count), vocabulary)
    whole = probabilities[:, : vocabulary // groups * groups]
    of_groups = whole.reshape(batch, -1, groups).max(axis=1)
    place = max(groups - count, 0)
    enough = np.partition(of_groups, place, axis=1)[:, place, None]
    found: list[list[tuple[float, int]]] = [[] for _ in range(batch)]
    rows, tokens = np.nonzero(probabilities >= enough)
    for row, token, probability in zip(
        rows.tolist(),
        tokens.tolist(),
        probabilities[rows, tokens].tolist(),
        strict=True,
    ):
        found[row].append((probability, token))
    # Equals stay in the order of the vocabulary, as upstream's do.
    return [sorted(row, key=itemgetter(0), reverse=True) for row in found]


def _choose(
    probabilities: Array,
    total: float,
    best: Sequence[tuple[float, int]],
    choice: Choice,
) -> int | None:
    if not math.isfinite(total):
        return None
    parameters = choice.parameters
    nucleus = _nucleus(best[: parameters.top_k], parameters.top_p * total)
    token = nucleus[_drawn([weight for weight, _ in nucleus], choice.draws[0])][1]
    if choice.recent.count(token) >= parameters.win_size * parameters.tau_r:
        others = probabilities.tolist()
        others[token] = 0.0
        token = _drawn(others, choice.draws[1])
    return token


def _nucleus(
    best: Sequence[tuple[float, int]], enough: float
) -> Sequence[tuple[float, int]]:
    """Keep as few of the best tokens as together reach what is enough."""
    before = accumulate((weight for weight, _ in best[:-1]), initial=0.0)
    kept = bisect_left(list(before), enough)
    return best[: max(kept, 1)]


def _drawn(weights: Sequence[float], draw: float) -> int:
    """Draw a place by its weight; one of weight zero only where all are."""
    sums = list(accumulate(weights))
    place = bisect_right(sums, draw * sums[-1])
    # Where all are zero that is behind the last place.
    return min(place, bisect_left(sums, sums[-1]))
