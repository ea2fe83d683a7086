"""Choose the next speech tokens of several sequences at once.

Repetition-aware: a token is drawn from the nucleus, the few most probable tokens. If
the sequence had that token of late, it is drawn again, from all other tokens.

Source: cosyvoice/utils/common.py ras_sampling, nucleus_sampling
"""

import numpy as np
from numpy.typing import NDArray

from cosykit.types import Sampling

Array = NDArray[np.float64]
Tokens = NDArray[np.int64]

DRAWS = 2
"""Uniform numbers that a step of one sequence consumes, used or not."""
NO_TOKEN = -1
"""Stands for the tokens before a sequence began."""


def sample(
    scores: NDArray[np.float32],
    recent: Tokens,
    draws: Array,
    may_end: NDArray[np.bool_],
    parameters: Sampling,
) -> Tokens:
    """Choose one token for each sequence.

    A row's choice depends on nothing but the row.

    Args:
        scores: Log-probabilities, (batch, vocabulary); the last token ends the speech.
        recent: The last tokens of each sequence, (batch, window), `NO_TOKEN` where
            it is shorter.
        draws: Uniform from 0 to 1, (batch, DRAWS).
        may_end: Whether the last token may be chosen, (batch).

    Returns:
        (batch)
    """
    allowed = scores.astype(np.float64)
    allowed[~may_end, -1] = -np.inf
    chosen = _from_nucleus(_softmax(allowed), draws[:, 0], parameters)
    seen = (recent == chosen[:, None]).sum(axis=1)
    repeated = np.flatnonzero(seen >= parameters.window * parameters.tolerance)
    if repeated.size:
        others = allowed[repeated]
        others[np.arange(repeated.size), chosen[repeated]] = -np.inf
        chosen[repeated] = _drawn(_softmax(others), draws[repeated, 1])
    return chosen


def _softmax(scores: Array) -> Array:
    raised: Array = np.exp(scores - scores.max(axis=1, keepdims=True))
    raised /= raised.sum(axis=1, keepdims=True)
    return raised


def _from_nucleus(probabilities: Array, draws: Array, parameters: Sampling) -> Tokens:
    tokens, kept = _nucleus(probabilities, parameters)
    places = _drawn(kept, draws)
    return np.take_along_axis(tokens, places[:, None], axis=1)[:, 0]


def _nucleus(probabilities: Array, parameters: Sampling) -> tuple[Tokens, Array]:
    """Give the tokens of the nucleus, best first, and their probabilities.

    Both are (batch, top_k); where the nucleus is smaller, probabilities are zero.
    """
    size = min(parameters.top_k, probabilities.shape[1])
    best = np.argpartition(probabilities, -size, axis=1)[:, -size:]
    best.sort(axis=1)
    found = np.take_along_axis(probabilities, best, axis=1)
    order = np.argsort(-found, axis=1, kind="stable")
    tokens = np.take_along_axis(best, order, axis=1)
    found = np.take_along_axis(found, order, axis=1)
    before = np.cumsum(found, axis=1) - found
    return tokens, np.where(before < parameters.top_p, found, 0)


def _drawn(weights: Array, draws: Array) -> Tokens:
    """Draw a place in each row by its weight; one of weight zero is never drawn."""
    sums = np.cumsum(weights, axis=1)
    goals = draws[:, None] * sums[:, -1:]
    places = np.count_nonzero(sums <= goals, axis=1)
    # A draw close to 1 may round up to the whole sum.
    last = weights.shape[1] - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)
    return np.asarray(np.minimum(places, last), np.int64)
