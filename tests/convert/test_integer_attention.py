from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.graph import Graph
from cosykit.convert.layers.integer_attention import hiding_of, integer_attention
from cosykit.convert.parity import signal_to_error_db
from tests.convert.conftest import Run

Array = NDArray[np.float32]

HEADS, HEAD_SIZE, FRAMES = 4, 32, 50


def gaussian(seed: int, frames: int = FRAMES) -> Array:
    shape = (2, frames, HEADS * HEAD_SIZE)
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def attention(opened: Callable[[Graph], Run], *, masked: bool) -> Run:
    graph = Graph("attention", "int8")
    shape = ("batch", "frames", HEADS * HEAD_SIZE)
    q, k, v = (graph.input(name, np.float32, shape) for name in "qkv")
    mask = graph.input("mask", np.float32, ("batch", "frames", 1)) if masked else None
    hiding = None if mask is None else hiding_of(mask)
    y = integer_attention(q, k, v, HEADS, HEAD_SIZE, hiding)
    graph.output("y", y, np.float32, shape)
    return opened(graph)


def exact(q: Array, k: Array, v: Array) -> Array:
    q, k, v = (
        x.reshape(2, -1, HEADS, HEAD_SIZE).transpose(0, 2, 1, 3) for x in (q, k, v)
    )
    scores = q @ k.transpose(0, 1, 3, 2) / HEAD_SIZE**0.5
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    attended: Array = (shares @ v).transpose(0, 2, 1, 3).reshape(2, -1, q.shape[1] * 32)
    return attended


@pytest.mark.parametrize("sharpness", [0.1, 1.0, 4.0])
def test_attention_of_integers_is_near_that_of_floats(
    opened: Callable[[Graph], Run], sharpness: float
) -> None:
    q, k, v = sharpness * gaussian(1), gaussian(2), gaussian(3)
    found = attention(opened, masked=False)({"q": q, "k": k, "v": v})["y"]
    assert signal_to_error_db(found, exact(q, k, v)) > 30


def test_even_rows_keep_their_precision_beside_a_sharp_one(
    opened: Callable[[Graph], Run],
) -> None:
    q, k, v = gaussian(1), gaussian(2), gaussian(3)
    # Every other frame looks at all frames alike, the rest at one or two.
    q[:, ::2] *= 0.02
    q[:, 1::2] *= 6
    found = attention(opened, masked=False)({"q": q, "k": k, "v": v})["y"]
    wanted = exact(q, k, v)
    assert signal_to_error_db(found[:, ::2], wanted[:, ::2]) > 30


def test_hidden_frames_are_not_seen(opened: Callable[[Graph], Run]) -> None:
    q, k, v = gaussian(1), gaussian(2), gaussian(3)
    mask = np.ones((2, FRAMES, 1), np.float32)
    mask[:, 30:] = 0
    found = attention(opened, masked=True)({"q": q, "k": k, "v": v, "mask": mask})["y"]
    wanted = exact(q[:, :30], k[:, :30], v[:, :30])
    assert signal_to_error_db(found[:, :30], wanted) > 30
