"""Attention whose scores depend on how far apart query and key are.

    score(i, j) = ((q_i + u) . k_j + (q_i + v) . p(i - j)) / sqrt(head size)

p(r) is a linear map of the sine and cosine of r. Upstream maps the whole position table
anew at every step; here each layer's mapped table is a weight of the graph, computed at
conversion, and a step takes from it what it needs.

Source: cosyvoice/transformer/attention.py RelPositionMultiHeadedAttention,
cosyvoice/transformer/embedding.py EspnetRelPositionalEncoding
"""

import numpy as np
from numpy.typing import NDArray

from cosykit.convert.graph import CONTRIB, Value
from cosykit.convert.layers.basic import Linear
from cosykit.convert.module import Module, Parameter


def sinusoids(distances: NDArray[np.int64], size: int) -> NDArray[np.float32]:
    """Encode distances, (n,) to (n, size): sine and cosine in turn, in float64 first."""
    rates = 10_000.0 ** (-np.arange(0, size, 2) / size)
    angles = distances[:, None] * rates
    encoded = np.empty((distances.size, size), np.float32)
    encoded[:, 0::2], encoded[:, 1::2] = np.sin(angles), np.cos(angles)
    return encoded


class RelativeAttention(Module):
    """Multi-headed attention with relative positions."""

    def __init__(self, size: int, heads: int) -> None:
        head_size = size // heads
        self.pos_bias_u = Parameter(heads, head_size)
        self.pos_bias_v = Parameter(heads, head_size)
        self.linear_q = Linear(size, size)
        self.linear_k = Linear(size, size)
        self.linear_v = Linear(size, size)
        self.linear_out = Linear(size, size)
        self.linear_pos = Linear(size, size, bias=False)
        self.heads, self.head_size, self.size = heads, head_size, size

    def over_all(self, x: Value, mask: Value | None = None) -> Value:
        """Attend from every frame to every other, (1, frames, size) both ways.

        Args:
            mask: Added to the scores, (frames, frames); None adds nothing.
        """
        graph, scale = x.graph, self.head_size**-0.5
        q = self.linear_q(x).reshape(0, 0, self.heads, self.head_size)
        keys = self._heads_first(self.linear_k(x))
        values = self._heads_first(self.linear_v(x))
        to_content = self._biased(q, self.pos_bias_u) @ keys.transpose(0, 1, 3, 2)
        to_distance = self._all_distances(self._biased(q, self.pos_bias_v), x)
        scores = (to_content + to_distance) * scale
        if mask is not None:
            scores = scores + mask
        weights = graph.op("Softmax", scores, attributes={"axis": -1})
        joined = (weights @ values).transpose(0, 2, 1, 3).reshape(0, 0, self.size)
        return self.linear_out(joined)

    def with_cache(
        self, x: Value, cache: "Cache", distances: Value, capacity: int
    ) -> tuple[Value, Value, Value]:
        """Attend from new frames to themselves and to those in the cache.

        Args:
            x: New frames, (batch, steps, size).
            cache: Keys and values so far, each (batch, heads, capacity, head size).
            distances: From each new frame to every key, never negative,
                (batch, heads, steps, keys).

        Returns:
            (batch, steps, size), and the cache's keys and values with the new ones.
        """
        graph, scale = x.graph, self.head_size**-0.5
        q = self.linear_q(x).reshape(0, 0, self.heads, self.head_size)
        table = graph.weight(
            f"{self.linear_pos.weight.key}.table", self._table(capacity) * scale
        )
        keys = distances.size(3)
        reach = table.slice(2, 0, keys)
        by_distance = self._biased(q, self.pos_bias_v) @ reach
        bias = graph.op(
            "GatherElements", by_distance, distances, attributes={"axis": 3}
        )
        u = graph.weight(self.pos_bias_u.key, self.pos_bias_u.array)
        attended, new_keys, new_values = graph.ops(
            "GroupQueryAttention",
            3,
            (q + u).reshape(0, 0, self.size),
            self.linear_k(x),
            self.linear_v(x),
            cache.keys,
            cache.values,
            cache.last,
            cache.total,
            None,
            None,
            None,
            bias,
            attributes={
                "num_heads": self.heads,
                "kv_num_heads": self.heads,
                "scale": scale,
            },
            domain=CONTRIB,
        )
        return self.linear_out(attended), new_keys, new_values

    def _heads_first(self, x: Value) -> Value:
        return x.reshape(0, 0, self.heads, self.head_size).transpose(0, 2, 1, 3)

    def _biased(self, q: Value, bias: Parameter) -> Value:
        """Add a bias a head and put the heads first."""
        added = q + q.graph.weight(bias.key, bias.array)
        return added.transpose(0, 2, 1, 3)

    def _table(self, capacity: int) -> NDArray[np.float32]:
        """Map the distances 0 to capacity - 1, (heads, head size, capacity)."""
        mapped = sinusoids(np.arange(capacity), self.size) @ (
            self.linear_pos.weight.array.T
        )
        return mapped.reshape(capacity, self.heads, -1).transpose(1, 2, 0).copy()

    def _all_distances(self, q: Value, x: Value) -> Value:
        raise NotImplementedError
