"""Choose the next speech token of a sequence.

Repetition-aware: a token is drawn from the nucleus, the few most probable tokens. If
the sequence had that token of late, it is drawn again, from all other tokens.

After a step of the model the processor's caches hold nothing of this. A call of numpy
then takes some 25 us, however little it computes, so what is small is left to lists: a
choice takes 155 us instead of 345.

Source: cosyvoice/utils/common.py ras_sampling, nucleus_sampling
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from cosykit.errors import ComputationError
from cosykit.types import Sampling

Array = NDArray[np.float64]
Draws = tuple[float, float]
"""Uniform numbers from 0 to 1 that a choice consumes, used or not."""


def choose(
    scores: NDArray[np.float32],
    recent: Sequence[int],
    draws: Draws,
    parameters: Sampling,
    *,
    may_end: bool,
) -> int:
    """Choose a token.

    Args:
        scores: Log-probabilities, (vocabulary); the last token ends the speech.
        recent: The last tokens of the sequence, at most the window of them.
        may_end: Whether the last token may be chosen.

    Raises:
        ComputationError: The scores are no numbers.
    """
    probabilities = np.exp(scores, dtype=np.float64)
    if not may_end:
        probabilities[-1] = 0
    tokens, weights = _nucleus(probabilities, parameters)
    token = tokens[_drawn(weights, draws[0])]
    if recent.count(token) >= parameters.window * parameters.tolerance:
        probabilities[token] = 0
        token = _drawn(probabilities.tolist(), draws[1])
    return token


def _nucleus(
    probabilities: Array, parameters: Sampling
) -> tuple[Sequence[int], Sequence[float]]:
    """Give the tokens of the nucleus, best first, and their weights."""
    size = min(parameters.top_k, probabilities.size)
    best = probabilities.argpartition(-size)[-size:]
    falling = sorted(zip((-probabilities[best]).tolist(), best.tolist(), strict=True))
    weights = [-negated for negated, _ in falling]
    before = list(accumulate(weights[:-1], initial=0.0))
    # Without the last token they add up to less than 1.
    total = float(probabilities.sum())
    if not math.isfinite(total):
        raise ComputationError("the language model")
    enough = parameters.top_p * total
    kept = max(bisect_left(before, enough), 1)
    return [token for _, token in falling[:kept]], weights[:kept]


def _drawn(weights: Sequence[float], draw: float) -> int:
    """Draw a place by its weight; one of weight zero is never drawn."""
    sums = list(accumulate(weights))
    place = bisect_right(sums, draw * sums[-1])
    # A draw close to 1 may round up to the whole sum.
    return min(place, bisect_left(sums, sums[-1]))
