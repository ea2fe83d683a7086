"""Attention whose scores depend on how far apart query and key are.

    score(i, j) = ((q_i + u) . k_j + (q_i + v) . p(i - j)) / sqrt(head size)

p(r) is a linear map of the sine and cosine of r. The first term is left to the
runtime's fused attention, with q + u as the query; the second enters it as a bias.

Source: cosyvoice/transformer/attention.py RelPositionMultiHeadedAttention,
cosyvoice/transformer/embedding.py EspnetRelPositionalEncoding
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosykit.convert.graph import CONTRIB, Graph, Value
from cosykit.convert.layers.basic import Linear
from cosykit.convert.module import Module, Parameter


@dataclass(frozen=True, slots=True)
class Cache:
    """One layer's keys and values of the sequences of a batch.

    Attributes:
        keys: (batch, heads, capacity, head size); a sequence fills it from the front.
        values: As keys.
    """

    keys: Value
    values: Value


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the sequences of a batch go, as all layers need it.

    Attributes:
        last: Place of each sequence's last new frame, int32 (batch).
        total: Frames of the longest sequence, the new ones included, int32 ().
        keys: The same, int64 (1).
        shift: Where to find, in the rows of scores by distance of all sequences, those
            of each sequence, int64 (batch x keys).
    """

    last: Value
    total: Value
    keys: Value
    shift: Value


def reach_of(x: Value, lengths: Value) -> Reach:
    """Compute the reach.

    Args:
        x: New frames, (batch, steps, size).
        lengths: Frames of each sequence in the cache, int64 (batch).
    """
    graph, steps = x.graph, x.size(1)
    longest = graph.op("ReduceMax", lengths, attributes={"keepdims": 1})
    keys = longest + steps
    places = _count(graph, keys)
    ahead = (longest - lengths).unsqueeze(1)
    found = graph.op("Min", places.unsqueeze(0) + ahead, keys - graph.indices(1))
    row = _count(graph, x.size(0)).unsqueeze(1) * keys
    return Reach(
        last=(lengths + steps - graph.indices(1)).cast(np.int32),
        total=keys.cast(np.int32).squeeze(0),
        keys=keys,
        shift=(found + row).reshape(-1),
    )


def encoded_distances(frames: Value, size: int) -> Value:
    """Encode the distances frames - 1 down to 1 - frames, (2 frames - 1, size)."""
    graph = frames.graph
    one = graph.constant(np.int64(1))
    end = frames.squeeze(0)
    distances = graph.op(
        "Range",
        end - one,
        graph.constant(np.int64(0)) - end,
        graph.constant(np.int64(-1)),
    )
    angles = distances.cast(np.float32).unsqueeze(1) * graph.constant(_rates(size))
    parts = (graph.op(kind, angles).unsqueeze(2) for kind in ("Sin", "Cos"))
    return graph.concat(2, *parts).reshape(-1, size)


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
        self._heads, self._head_size, self._size = heads, head_size, size
        self._scale = float(head_size**-0.5)

    def over_all(self, x: Value, distances: Value, *, causal: bool) -> Value:
        """Attend from every frame to every other, or to the earlier ones.

        Args:
            x: One sequence, (1, frames, size).
            distances: What `encoded_distances` gives for its frames.
        """
        graph, q = x.graph, self._queries(x)
        mapped = self.linear_pos(distances).reshape(0, self._heads, self._head_size)
        table = mapped.transpose(1, 2, 0) * self._scale
        by_distance = self._biased(q, self.pos_bias_v).transpose(0, 2, 1, 3) @ table
        frames = x.size(1)
        bias = _aligned(by_distance.squeeze(0), frames, distances.size(0))
        attended = graph.op(
            "MultiHeadAttention",
            self._biased(q, self.pos_bias_u).reshape(0, 0, self._size),
            self.linear_k(x),
            self.linear_v(x),
            None,
            None,
            bias.slice(2, 0, frames).unsqueeze(0),
            attributes={
                "num_heads": self._heads,
                "scale": self._scale,
                "unidirectional": int(causal),
            },
            domain=CONTRIB,
        )
        return self.linear_out(attended)

    def with_cache(
        self, x: Value, cache: Cache, reach: Reach, capacity: int
    ) -> tuple[Value, Cache]:
        """Attend from new frames to themselves and to those in the cache.

        Upstream maps the position table anew at every step; here the mapped table is a
        weight, computed at conversion.

        Args:
            x: New frames, (batch, steps, size): one sequence, or one step of several.

        Returns:
            (batch, steps, size), and the cache with the new frames.
        """
        graph, q = x.graph, self._queries(x)
        attended, keys, values = graph.ops(
            "GroupQueryAttention",
            3,
            self._biased(q, self.pos_bias_u).reshape(0, 0, self._size),
            self.linear_k(x),
            self.linear_v(x),
            cache.keys,
            cache.values,
            reach.last,
            reach.total,
            None,
            None,
            None,
            self._bias_of_distance(q, reach, capacity),
            attributes={
                "num_heads": self._heads,
                "kv_num_heads": self._heads,
                "scale": self._scale,
            },
            domain=CONTRIB,
        )
        return self.linear_out(attended), Cache(keys, values)

    def _bias_of_distance(self, q: Value, reach: Reach, capacity: int) -> Value:
        """Compute (q + v) . p for every key, (batch, heads, steps, keys)."""
        graph = q.graph
        table = graph.weight(
            f"{self.linear_pos.weight.key}.table", lambda: self._table(capacity)
        )
        start = graph.index(capacity) - reach.keys
        # One product a head for all sequences, which so share the reading of the table.
        queries = self._biased(q, self.pos_bias_v).transpose(2, 1, 0, 3)
        rows = queries.reshape(0, -1, self._head_size)
        by_distance = rows @ table.slice(2, start, capacity)
        by_step = by_distance.reshape_to(self._heads, q.size(1), -1)
        aligned = _aligned(by_step, q.size(1), by_step.size(2))
        shifted = graph.op("Gather", aligned, reach.shift, attributes={"axis": 2})
        by_sequence = shifted.reshape_to(self._heads, q.size(1), q.size(0), -1)
        return by_sequence.transpose(2, 0, 1, 3)

    def _queries(self, x: Value) -> Value:
        return self.linear_q(x).reshape(0, 0, self._heads, self._head_size)

    def _biased(self, q: Value, bias: Parameter) -> Value:
        return q + q.graph.weight(bias.key, bias.array)

    def _table(self, capacity: int) -> NDArray[np.float32]:
        """Map the distances capacity - 1 to 0, (heads, head size, capacity)."""
        angles = np.arange(capacity, dtype=np.float32)[::-1, None] * _rates(self._size)
        encoded = np.stack([np.sin(angles), np.cos(angles)], axis=2)
        mapped = encoded.reshape(capacity, -1) @ self.linear_pos.weight.array.T
        table: NDArray[np.float32] = mapped.reshape(
            capacity, self._heads, -1
        ).transpose(1, 2, 0)
        return np.asarray(table * self._scale, np.float32)


def _rates(size: int) -> NDArray[np.float32]:
    """Give the angular rates, in the precision in which the models were trained."""
    steps = np.arange(0, size, 2, dtype=np.float32)
    rates: NDArray[np.float32] = np.exp(steps * np.float32(-np.log(10_000.0) / size))
    return rates


def _count(graph: Graph, end: Value) -> Value:
    """Count from 0 up to a one-element tensor."""
    zero, one = (graph.constant(np.int64(n)) for n in (0, 1))
    return graph.op("Range", zero, end.squeeze(0), one)


def _aligned(by_distance: Value, rows: Value, columns: Value) -> Value:
    """Move row i of (heads, rows, columns) to the left by rows - 1 - i.

    The columns hold falling distances; afterwards they hold rising keys. What moves in
    from the right belongs to later keys. A row more than the columns are long, read at
    the length of the columns, starts one place later each time.
    """
    graph = by_distance.graph
    longer = graph.op("Pad", by_distance, graph.indices(0, 0, 0, 0, 0, 1))
    flat = longer.reshape(0, -1)
    start = rows - graph.indices(1)
    moved = flat.slice(1, start, start + rows * columns)
    return moved.reshape_to(0, rows, columns)
