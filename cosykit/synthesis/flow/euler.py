"""Follow the flow from noise to a mel.

Source: cosyvoice/flow/flow_matching.py ConditionalCFM
"""

from collections.abc import Generator
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosykit.runtime.session import Session

Array = NDArray[np.float32]

STEPS = 10
# How much further from the unconditional velocity than the conditional one is.
GUIDANCE = np.float32(0.7)


@dataclass(frozen=True, slots=True)
class Conditions:
    """What steers the flow of a batch.

    Attributes:
        mu: The mean, (batch, mels, frames).
        speaker: (batch, mels).
        prompt: The prompt's mel, zero after it, (batch, mels, frames).
        lengths: Frames of each sequence, int64 (batch); None if all have all frames.
    """

    mu: Array
    speaker: Array
    prompt: Array
    lengths: NDArray[np.int64] | None = None


def times() -> Array:
    """Give the times of the steps, from 0 to 1, denser near 0."""
    even = np.linspace(0, 1, STEPS + 1, dtype=np.float32)
    times: Array = 1 - np.cos(even * np.float32(0.5 * np.pi))
    return times


def follow(
    estimator: Session,
    noise: Array,
    conditions: Conditions,
    rows: Executor | None = None,
) -> Generator[None, None, Array]:
    """Give the mel, (batch, mels, frames), that noise of the same shape flows to.

    It pauses after every step.

    Args:
        estimator: estimator.onnx; the ragged one if the conditions have lengths.
        rows: Runs the rows of the batch, each by itself; None runs them together.
    """
    batch = noise.shape[0]
    feeds = _guided(conditions)
    schedule = times()
    mel, time = noise, schedule[0]
    for goal in schedule[1:]:
        # Times add up in float32, as upstream; the last may miss 1 by a rounding.
        step = goal - time
        feeds["x"] = np.concatenate([mel, mel])
        feeds["time"] = np.full(2 * batch, time, np.float32)
        velocity = _velocity(estimator, feeds, rows)
        conditional, free = velocity[:batch], velocity[batch:]
        mel = mel + step * ((1 + GUIDANCE) * conditional - GUIDANCE * free)
        time = time + step
        yield
    return mel


def _velocity(
    estimator: Session, feeds: dict[str, NDArray[np.generic]], rows: Executor | None
) -> Array:
    def run(feeds: dict[str, NDArray[np.generic]]) -> Array:
        return estimator.run(feeds, ["velocity"])[0].astype(np.float32, copy=False)

    if rows is None:
        return run(feeds)
    singles = [
        {name: array[row : row + 1] for name, array in feeds.items()}
        for row in range(len(feeds["time"]))
    ]
    return np.concatenate(list(rows.map(run, singles)))


def _guided(conditions: Conditions) -> dict[str, NDArray[np.generic]]:
    """Put each sequence into the batch twice, the second time without conditions."""
    feeds: dict[str, NDArray[np.generic]] = {
        name: np.concatenate([part, np.zeros_like(part)])
        for name, part in (
            ("mu", conditions.mu),
            ("speaker", conditions.speaker),
            ("condition", conditions.prompt),
        )
    }
    if conditions.lengths is not None:
        feeds["lengths"] = np.concatenate([conditions.lengths, conditions.lengths])
    return feeds
