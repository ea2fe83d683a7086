"""Attention over all frames as two products of 8-bit integers.

    scores = q k^T / sqrt(head size)         unsigned by signed bytes
    shares = exp(scores - their greatest)    float32; the greatest of a row is 1
    result = shares v / sum of shares        unsigned by signed bytes

Queries, keys and values are each quantized by the range of the whole tensor. Shares are
divided by their sum only in the end, so that one scale serves all rows: of those that
look at a single frame, and of those that look at all alike. It takes a sixth less than
`Softmax`, whose rows need a scale each.

On a Zen 4 core this saves a block of the estimator 0.2 of 1.9 ms at 172 frames, and 1.1
of 5.2 ms at 344, against `MultiHeadAttention` between the same products of integers.
With unsigned keys and values it takes 0.2 ms more; one scale for both saves nothing.
"""

import numpy as np

from cosykit.convert.graph import CONTRIB, Value

_SIGNED_LIMIT = 127.0
_UNSIGNED_LIMIT = 255.0
_HIDING = 1e10


def hiding_of(mask: Value) -> Value:
    """Give what hides padding if it is added to scores, (batch, 1, 1, frames).

    Args:
        mask: 1 on frames of a sequence, 0 after, (batch, frames, 1).
    """
    return ((mask - 1.0) * _HIDING).transpose(0, 2, 1).unsqueeze(1)


def integer_attention(
    q: Value, k: Value, v: Value, heads: int, head_size: int, hiding: Value | None
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
    if hiding is not None:
        scores = scores + hiding
    last = graph.indices(-1)
    shares = graph.op("Exp", scores - graph.op("ReduceMax", scores, last))
    step = graph.constant(np.float32(1 / _UNSIGNED_LIMIT))
    values, value_scale = _signed(v)
    attended = graph.op(
        "MatMulIntegerToFloat",
        graph.op("QuantizeLinear", shares, step, graph.constant(np.uint8(0))),
        values.reshape(*split).transpose(0, 2, 1, 3),
        step,
        value_scale,
        domain=CONTRIB,
    )
    mean = attended / graph.op("ReduceSum", shares, last)
    return mean.transpose(0, 2, 1, 3).reshape(0, 0, heads * head_size)


def _signed(x: Value) -> tuple[Value, Value]:
    """Quantize to int8, which the second factor of a product has to be for speed."""
    graph = x.graph
    greatest = graph.op("ReduceMax", graph.op("Abs", x), attributes={"keepdims": 0})
    scale = greatest / _SIGNED_LIMIT
    return graph.op("QuantizeLinear", x, scale, graph.constant(np.int8(0))), scale
