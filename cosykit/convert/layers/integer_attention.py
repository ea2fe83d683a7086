"""Attention over all frames as two products of 8-bit integers.

    scores = q k^T / sqrt(head size)    unsigned by signed bytes
    shares = softmax(scores)            float32
    result = shares v                   unsigned by signed bytes

Queries, keys and values are each quantized by the range of the whole tensor. Shares are
quantized by the greatest of their row: one row may look at a single frame, and another
at all of them, with shares a hundred times smaller.

On a Zen 4 core this saves a block of the estimator 0.2 of 1.9 ms at 172 frames, and 1.1
of 5.2 ms at 344, against `MultiHeadAttention` between the same products of integers.
With unsigned keys and values it takes 0.2 ms more; one scale for both saves nothing.
"""

from dataclasses import dataclass

import numpy as np

from cosykit.convert.graph import CONTRIB, Value

_SIGNED_LIMIT = 127.0
_UNSIGNED_LIMIT = 255.0
_HIDING = 1e10


@dataclass(frozen=True, slots=True)
class Scene:
    """What all attention over the same frames shares.

    Attributes:
        grid: The shape of all scores: (batch, heads, frames, frames).
        rows: The same with a row for every query of every head: (rows, frames).
        hiding: Added to scores, (batch, 1, 1, frames); None where nothing is hidden.
    """

    grid: Value
    rows: Value
    hiding: Value | None


def scene_of(x: Value, heads: int, mask: Value | None) -> Scene:
    """Prepare attention.

    Args:
        x: (batch, frames, channels).
        mask: 1 on frames of a sequence, 0 after, (batch, frames, 1).
    """
    graph, frames = x.graph, x.size(1)
    return Scene(
        grid=graph.concat(0, x.size(0), graph.indices(heads), frames, frames),
        rows=graph.concat(0, graph.indices(-1), frames),
        hiding=None if mask is None else _hiding(mask),
    )


def integer_attention(
    q: Value, k: Value, v: Value, heads: int, head_size: int, scene: Scene
) -> Value:
    """Attend; all are float32 (batch, frames, heads x head size)."""
    graph, split = q.graph, (0, 0, heads, head_size)
    queries = graph.quantized(q.reshape(*split).transpose(0, 2, 1, 3))
    keys, key_scale = _signed(k)
    scores = graph.op(
        "MatMulIntegerToFloat",
        queries.values,
        keys.reshape(*split).transpose(0, 2, 3, 1),
        queries.scale * float(head_size**-0.5),
        key_scale,
        queries.zero,
        domain=CONTRIB,
    )
    if scene.hiding is not None:
        scores = scores + scene.hiding
    values, value_scale = _signed(v)
    shares, greatest = _quantized_rows(graph.op("Softmax", scores), scene)
    attended = graph.op(
        "MatMulIntegerToFloat",
        shares,
        values.reshape(*split).transpose(0, 2, 1, 3),
        graph.constant(np.float32(1 / _UNSIGNED_LIMIT)),
        value_scale,
        domain=CONTRIB,
    )
    scaled = attended * greatest
    return scaled.transpose(0, 2, 1, 3).reshape(0, 0, heads * head_size)


def _signed(x: Value) -> tuple[Value, Value]:
    """Quantize to int8, which the second factor of a product has to be for speed."""
    graph = x.graph
    greatest = graph.op("ReduceMax", graph.op("Abs", x), attributes={"keepdims": 0})
    scale = greatest / _SIGNED_LIMIT
    return graph.op("QuantizeLinear", x, scale, graph.constant(np.int8(0))), scale


def _quantized_rows(shares: Value, scene: Scene) -> tuple[Value, Value]:
    """Quantize each row to uint8; give also its greatest, (batch, heads, frames, 1)."""
    graph = shares.graph
    greatest = graph.op("ReduceMax", shares, graph.indices(-1))
    flat = graph.op("Reshape", shares, scene.rows)
    scales = greatest.reshape(-1) / _UNSIGNED_LIMIT
    rows = graph.op("QuantizeLinear", flat, scales, attributes={"axis": 0})
    return graph.op("Reshape", rows, scene.grid), greatest


def _hiding(mask: Value) -> Value:
    return ((mask - 1.0) * _HIDING).transpose(0, 2, 1).unsqueeze(1)
