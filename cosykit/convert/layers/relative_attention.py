"""Attention whose scores depend on how far apart query and key are.

    score(i, j) = ((q_i + u) . k_j + (q_i + v) . p(i - j)) / sqrt(head size)

p(r) is a linear map of the sine and cosine of r. The first term is left to the
runtime's fused attention, with q + u as the query; the second enters it as a bias. With
a cache that takes GroupQueryAttention, which ONNX Runtime 1.26 refuses a bias on a GPU;
so at fp16, the precision for GPUs, it is spelt out.
u and v are added where they cost nothing: u to the bias of the map that makes q.

Source: cosyvoice/transformer/attention.py RelPositionMultiHeadedAttention,
cosyvoice/transformer/embedding.py EspnetRelPositionalEncoding
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from cosykit.convert.graph import CONTRIB, Attribute, Graph, Value
from cosykit.convert.layers.basic import Linear
from cosykit.convert.layers.product import LinearMap, joined, product
from cosykit.convert.module import Module, Parameter

BLOCK = 64
"""Distances of one block of a table: as many blocks as are needed lie side by side."""

# Its exponential is 0, and it can be added to in float16.
_HIDES = -30_000.0
_INT8_CACHE: Mapping[str, Attribute] = MappingProxyType(
    {
        "kv_cache_bit_width": 8,
        "k_quant_type": "PER_CHANNEL",
        "v_quant_type": "PER_CHANNEL",
    }
)

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Cache:
    """One layer's memory of the sequences of a batch, and what it knows of distances.

    Attributes:
        keys: (batch, heads, capacity, head size); a sequence fills it from the front.
        values: As keys.
        distances: p of the distances from 0, (blocks, heads, head size, BLOCK), already
            divided by the square root of the head size.
        scales: What keys and values are multiples of, where they are int8; each
            float32 (1, heads, 1, head size).
    """

    keys: Value
    values: Value
    distances: Value
    scales: tuple[Value, Value] | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """What attention keeps of the earlier frames of one sequence.

    Attributes:
        keys: (1, heads, earlier frames, head size).
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
        apart: Distance of each key from each new frame, int32 (batch, heads, steps,
            keys); 0 for keys that come later, which attention does not see.
        by_block: Shape of products with a table's blocks, (blocks, heads, batch, steps,
            BLOCK).
        places: Where the new frames go in the cache, int64 (batch, heads, steps, 3).
        hides: What hides later keys, (batch, 1, steps, keys).
    """

    last: Value
    total: Value
    apart: Value
    by_block: Value
    places: Value
    hides: Value


def reach_of(x: Value, lengths: Value, heads: int) -> Reach:
    """Compute the reach.

    Args:
        x: New frames, (batch, steps, size).
        lengths: Frames of each sequence in the cache, int64 (batch).
    """
    graph, batch, steps = x.graph, x.size(0), x.size(1)
    keys = graph.op("ReduceMax", lengths, attributes={"keepdims": 1}) + steps
    places = lengths.unsqueeze(1) + _count(graph, steps)
    apart = places.unsqueeze(1, 3) - _count(graph, keys)
    zero = graph.constant(np.int64(0))
    seen = graph.op("Max", apart, zero).cast(np.int32)
    blocks = graph.indices(-1, heads)
    spread = graph.concat(0, batch, graph.indices(heads), steps, graph.indices(1))
    sequence, head = _count(graph, batch), _count(graph, graph.indices(heads))
    axes = (sequence.unsqueeze(1, 2, 3), head.unsqueeze(1, 2), places.unsqueeze(1, 3))
    return Reach(
        last=(lengths + steps - graph.indices(1)).cast(np.int32),
        total=keys.cast(np.int32).squeeze(0),
        apart=graph.op("Expand", seen, graph.indices(1, heads, 1, 1)),
        by_block=graph.concat(0, blocks, batch, steps, graph.indices(BLOCK)),
        places=graph.concat(3, *(graph.op("Expand", axis, spread) for axis in axes)),
        hides=graph.op("Less", apart, zero).cast(graph.floating) * _HIDES,
    )


def encoded_distances(frames: Value, size: int, *, causal: bool) -> Value:
    """Encode falling distances, from frames - 1, as (distances, size).

    Args:
        causal: Whether only earlier frames count. Then they end with -1, else with
            -frames; one more than is needed, for `_aligned`.
    """
    graph, last = frames.graph, frames.squeeze(0)
    back, beyond = (graph.constant(np.int64(n)) for n in (-1, -2))
    end = beyond if causal else back - last
    return _encoded(graph.op("Range", last + back, end, back), size).lowered()


def distance_blocks(count: Value, size: int) -> Value:
    """Encode the distances from 0 of some blocks, (distances, size).

    Args:
        count: How many blocks, int64 ().
    """
    graph = count.graph
    zero, one, block = (graph.constant(np.int64(n)) for n in (0, 1, BLOCK))
    return _encoded(graph.op("Range", zero, count * block, one), size).lowered()


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
        self._plan: Mapping[str, Attribute] = {
            "num_heads": heads,
            "scale": self._scale,
        }

    def over_all(self, x: Value, distances: Value) -> Value:
        """Attend from every frame to every other.

        Args:
            x: One sequence, (1, frames, size).
            distances: What `encoded_distances` gives for its frames.
        """
        queries, keys, values = self._queries_keys_values(x)
        bias = self._bias_of_key(queries, distances, x.size(1))
        inputs = (queries, keys, values, None, None, bias)
        attended = x.graph.op(
            "MultiHeadAttention", *inputs, attributes=self._plan, domain=CONTRIB
        )
        return self.linear_out(attended)

    def after(self, x: Value, distances: Value, past: Past) -> tuple[Value, Past]:
        """Attend from every frame to itself and to earlier ones.

        Args:
            x: The next frames of a sequence, (1, frames, size).
            distances: What `encoded_distances` gives for it as far as it goes now.

        Returns:
            (1, frames, size), and the past of what comes next.
        """
        queries, keys, values = self._queries_keys_values(x)
        so_far = past.keys.size(2) + x.size(1)
        attended, keys, values = x.graph.ops(
            "MultiHeadAttention",
            3,
            queries,
            keys,
            values,
            None,
            None,
            self._bias_of_key(queries, distances, so_far),
            past.keys,
            past.values,
            attributes={**self._plan, "unidirectional": 1},
            domain=CONTRIB,
        )
        return self.linear_out(attended), Past(keys, values)

    def with_cache(self, x: Value, cache: Cache, reach: Reach) -> tuple[Value, Cache]:
        """Attend from new frames to themselves and to those in the cache.

        Upstream maps the encoded distances anew at every step.

        Args:
            x: New frames, (batch, steps, size): one sequence, or one step of several.

        Returns:
            (batch, steps, size), and the cache with the new frames.
        """
        made = product(x, self._map_to_all())
        queries = made.slice(2, 0, self._size)
        bias = self._bias_of_distance(queries, cache.distances, reach)
        attend = self._spelt_out if x.graph.precision == "fp16" else self._fused
        attended, cache = attend(made, bias, cache, reach)
        return self.linear_out(attended), cache

    def _fused(
        self, made: Value, bias: Value, cache: Cache, reach: Reach
    ) -> tuple[Value, Cache]:
        inputs = [made, None, None, cache.keys, cache.values, reach.last, reach.total]
        inputs += [None, None, None, bias]
        attributes: dict[str, Attribute] = {**self._plan, "kv_num_heads": self._heads}
        if cache.scales:
            inputs += [None, *cache.scales]
            attributes |= _INT8_CACHE
        attended, keys, values = made.graph.ops(
            "GroupQueryAttention", 3, *inputs, attributes=attributes, domain=CONTRIB
        )
        return attended, replace(cache, keys=keys, values=values)

    def _spelt_out(
        self, made: Value, bias: Value, cache: Cache, reach: Reach
    ) -> tuple[Value, Cache]:
        graph, size = made.graph, self._size
        queries, new_keys, new_values = (
            made.slice(2, start, start + size)
            .reshape(0, 0, self._heads, self._head_size)
            .transpose(0, 2, 1, 3)
            for start in (0, size, 2 * size)
        )
        # Bound to the memory that it reads, this writes the new frames and no more.
        keys = graph.op("ScatterND", cache.keys, reach.places, new_keys)
        values = graph.op("ScatterND", cache.values, reach.places, new_values)
        total = reach.total.cast(np.int64).unsqueeze(0)
        products = (queries * self._scale) @ keys.slice(2, 0, total).transpose(
            0, 1, 3, 2
        )
        weights = graph.op(
            "Softmax", products + bias + reach.hides, attributes={"axis": -1}
        )
        attended = (weights @ values.slice(2, 0, total)).transpose(0, 2, 1, 3)
        grown = replace(cache, keys=keys, values=values)
        return attended.reshape(0, 0, size), grown

    def map_distances(self, encoded: Value) -> Value:
        """Map encoded distances to a table, as a `Cache` has it."""
        graph, weight = encoded.graph, self.linear_pos.weight
        stored = graph.half_weight(weight.key, lambda: weight.array.T)
        scaled = encoded @ stored.cast(graph.floating) * self._scale
        by_block = scaled.reshape(-1, BLOCK, self._heads, self._head_size)
        return by_block.transpose(0, 2, 3, 1)

    def _bias_of_distance(
        self, queries: Value, distances: Value, reach: Reach
    ) -> Value:
        """Compute (q + v) . p for every key, (batch, heads, steps, keys)."""
        graph = queries.graph
        # One product a head for all sequences, which so share the reading of the table.
        products = self._to_distances(queries) @ distances
        by_block = graph.op("Reshape", products, reach.by_block)
        by_distance = by_block.transpose(2, 1, 3, 0, 4).reshape(0, 0, 0, -1)
        return graph.op(
            "GatherElements", by_distance, reach.apart, attributes={"axis": 3}
        )

    def _to_distances(self, queries: Value) -> Value:
        """Turn q + u into q + v, (batch, steps, size) into (heads, frames, head size).

        Frames are the steps of all sequences.
        """
        u, v = self.pos_bias_u, self.pos_bias_v
        shift = queries.graph.weight(
            f"{v.key}.shift", lambda: (v.array - u.array).reshape(-1)
        )
        shaped = (queries + shift).reshape(-1, self._heads, self._head_size)
        return shaped.transpose(1, 0, 2)

    def _bias_of_key(self, queries: Value, distances: Value, keys: Value) -> Value:
        """Compute (q + v) . p for every key of one sequence, (1, heads, frames, keys).

        Args:
            queries: q + u of its last frames, (1, frames, size).
            distances: What `encoded_distances` gives for all its frames.
        """
        mapped = self.linear_pos(distances).reshape(0, self._heads, self._head_size)
        by_distance = self._to_distances(queries) @ mapped.transpose(1, 2, 0)
        bias = _aligned(by_distance * self._scale, queries.size(1), keys)
        return bias.unsqueeze(0)

    def _queries_keys_values(self, x: Value) -> tuple[Value, ...]:
        """Map frames to q + u, k and v."""
        made = product(x, self._map_to_all())
        return x.graph.ops("Split", 3, made, attributes={"axis": 2, "num_outputs": 3})

    def _map_to_all(self) -> LinearMap:
        """Give the map to q + u, k and v side by side."""
        query, u = self.linear_q.map, self.pos_bias_u
        bias = self.linear_q.bias
        assert bias is not None
        query = replace(query, bias=lambda: bias.array + u.array.reshape(-1))
        name = query.name.removesuffix("q") + "qkv"
        return joined(name, query, self.linear_k.map, self.linear_v.map)


def _encoded(distances: Value, size: int) -> Value:
    """Encode distances, int64 (distances), as float32 (distances, size)."""
    graph = distances.graph
    angles = distances.cast(np.float32).unsqueeze(1) * graph.constant(_rates(size))
    parts = (graph.op(kind, angles).unsqueeze(2) for kind in ("Sin", "Cos"))
    return graph.concat(2, *parts).reshape(-1, size)


def _rates(size: int) -> NDArray[np.float32]:
    """Give the angular rates, in the precision in which the models were trained."""
    steps = np.arange(0, size, 2, dtype=np.float32)
    rates: NDArray[np.float32] = np.exp(steps * np.float32(-np.log(10_000.0) / size))
    return rates


def _count(graph: Graph, end: Value) -> Value:
    """Count from 0 up to a one-element tensor."""
    zero, one = (graph.constant(np.int64(n)) for n in (0, 1))
    return graph.op("Range", zero, end.squeeze(0), one)


def _aligned(by_distance: Value, rows: Value, keys: Value) -> Value:
    """Turn (heads, rows, columns) by falling distance into (heads, rows, keys).

    Rows are the last of as many frames as there are keys. A row begins with distance
    keys - 1, its first key is rows - 1 - i closer in row i: it has to move to the left
    by that. So it does when the rows, one after the other, are read with a column less
    to each.
    """
    one, columns = rows.graph.indices(1), by_distance.size(2)
    start, narrower = rows - one, columns - one
    flat = by_distance.reshape(0, -1).slice(1, start, start + rows * narrower)
    return flat.reshape_to(0, rows, narrower).slice(2, 0, keys)
