"""Linear maps as products, at the precision of the graph.

| graph              | product                                                 |
|--------------------|---------------------------------------------------------|
| fp32, fp16         | `MatMul`                                                |
| int8, int4         | `MatMulIntegerToFloat` of 8-bit columns                 |
| int8, by blocks    | `MatMulNBits` of 8-bit blocks                           |
| int4, by blocks    | `MatMulNBits` of 4-bit blocks                           |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from cosykit.convert.graph import CONTRIB, Quantized, Value
from cosykit.convert.quantize import Bits, quantized_blocks, quantized_columns

Floats = NDArray[np.float32]

# Inputs that share a scale, by the bits of a weight. With 32 at 4 bits Gaussian weights
# keep 1.4 dB more, but the full model's products take 8.5 ms instead of 5.9 a token on
# one core.
_BLOCKS: Mapping[Bits, int] = MappingProxyType({4: 128, 8: 256})
# A row of activations takes this many levels to either side of zero.
_LEVELS = 127
_LEAST_SCALE = 1e-12
# Let `MatMulNBits` multiply integers, the whole point of it.
_INTEGER_ACTIVATIONS = 4


@dataclass(frozen=True, slots=True)
class LinearMap:
    """x W^T + b.

    Attributes:
        name: Names the weights in the graph file: equal names, equal weights.
        inputs: Channels that enter.
        outputs: Channels that come out.
        weight: Gives W (outputs, inputs) when the graph is saved.
        bias: Gives b (outputs), if there is one.
    """

    name: str
    inputs: int
    outputs: int
    weight: Callable[[], Floats]
    bias: Callable[[], Floats] | None = None


def joined(name: str, *maps: LinearMap) -> LinearMap:
    """Make one map of several with the same input; their outputs lie side by side."""

    def bias() -> Floats:
        return np.concatenate(
            [m.bias() if m.bias else np.zeros(m.outputs, np.float32) for m in maps]
        )

    return LinearMap(
        name,
        maps[0].inputs,
        sum(m.outputs for m in maps),
        weight=lambda: np.concatenate([m.weight() for m in maps]),
        bias=bias if any(m.bias for m in maps) else None,
    )


def product(x: Value, linear: LinearMap, *, exact: bool = False) -> Value:
    """Map (..., inputs) to (..., outputs).

    Args:
        exact: Whether the product is never quantized.
    """
    graph = x.graph
    if exact or graph.precision in ("fp32", "fp16"):
        return _float_product(x, linear)
    if graph.granularity == "block":
        return _block_product(x, linear, 4 if graph.precision == "int4" else 8)
    if graph.granularity == "row":
        return _row_product(x, linear)
    quantized = x.graph.quantized(x)
    return _column_product(quantized, linear, _bias(x, linear))


def _float_product(x: Value, linear: LinearMap) -> Value:
    graph = x.graph
    mapped = x @ graph.weight(f"{linear.name}.weight", lambda: linear.weight().T)
    bias = _bias(x, linear)
    return mapped if bias is None else mapped + bias


def _block_product(x: Value, linear: LinearMap, bits: Bits) -> Value:
    graph, size = x.graph, _BLOCKS[bits]

    def packed() -> tuple[NDArray[np.generic], ...]:
        quantized = quantized_blocks(linear.weight(), bits, size)
        return quantized.values, quantized.scales

    names = [f"{linear.name}.{part}_{bits}_bits" for part in ("blocks", "scales")]
    values, scales = graph.weights(names, packed)
    return graph.op(
        "MatMulNBits",
        x,
        values,
        scales,
        None,
        None,
        _bias(x, linear),
        attributes={
            "K": linear.inputs,
            "N": linear.outputs,
            "bits": bits,
            "block_size": size,
            "accuracy_level": _INTEGER_ACTIVATIONS,
        },
        domain=CONTRIB,
    )


def _row_product(x: Value, linear: LinearMap) -> Value:
    graph = x.graph
    largest = graph.op("ReduceMax", graph.op("Abs", x), graph.indices(-1))
    scale = graph.op("Max", largest * (1 / _LEVELS), graph.like(_LEAST_SCALE))
    one, zero = graph.like(1.0), graph.constant(np.uint8(_LEVELS + 1))
    values = graph.op("QuantizeLinear", x / scale, one, zero)
    mapped = _column_product(Quantized(values, one, zero), linear, None) * scale
    bias = _bias(x, linear)
    return mapped if bias is None else mapped + bias


def _column_product(x: Quantized, linear: LinearMap, bias: Value | None) -> Value:
    graph = x.values.graph

    def packed() -> tuple[NDArray[np.generic], ...]:
        quantized = quantized_columns(linear.weight())
        return quantized.values, quantized.scales

    names = [f"{linear.name}.{part}" for part in ("columns", "column_scales")]
    columns, scales = graph.weights(names, packed)
    return graph.op(
        "MatMulIntegerToFloat",
        x.values,
        columns,
        x.scale,
        scales,
        x.zero,
        None,
        bias,
        domain=CONTRIB,
    )


def _bias(x: Value, linear: LinearMap) -> Value | None:
    if linear.bias is None:
        return None
    return x.graph.weight(f"{linear.name}.bias", linear.bias)
