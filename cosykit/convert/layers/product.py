"""Linear maps as products, at the precision of the graph.

| graph              | product                                                 |
|--------------------|---------------------------------------------------------|
| fp32, fp16         | `MatMul`                                                |
| int8, int4         | `MatMulIntegerToFloat` of 8-bit columns                 |
| int8, `few_rows`   | `MatMulNBits` of 8-bit blocks                           |
| int4, `few_rows`   | `MatMulNBits` of 4-bit blocks                           |
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosykit.convert.graph import CONTRIB, Value
from cosykit.convert.quantize import Bits, quantized_blocks, quantized_columns

Floats = NDArray[np.float32]

# Inputs that share a scale. With 32 at 4 bits Gaussian weights keep 1.4 dB more, but
# the full model's products take 8.5 ms instead of 5.9 a token on one core.
_BLOCK = 128
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
    if graph.few_rows:
        return _block_product(x, linear, 4 if graph.precision == "int4" else 8)
    return _integer_product(x, linear)


def _float_product(x: Value, linear: LinearMap) -> Value:
    graph = x.graph
    mapped = x @ graph.weight(f"{linear.name}.weight", lambda: linear.weight().T)
    bias = _bias(x, linear)
    return mapped if bias is None else mapped + bias


def _block_product(x: Value, linear: LinearMap, bits: Bits) -> Value:
    graph = x.graph

    def packed() -> tuple[NDArray[np.generic], ...]:
        quantized = quantized_blocks(linear.weight(), bits, _BLOCK)
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
            "block_size": _BLOCK,
            "accuracy_level": _INTEGER_ACTIVATIONS,
        },
        domain=CONTRIB,
    )


def _integer_product(x: Value, linear: LinearMap) -> Value:
    graph = x.graph

    def packed() -> tuple[NDArray[np.generic], ...]:
        quantized = quantized_columns(linear.weight())
        return quantized.values, quantized.scales

    names = [f"{linear.name}.{part}" for part in ("columns", "column_scales")]
    columns, scales = graph.weights(names, packed)
    quantized = graph.quantized(x)
    return graph.op(
        "MatMulIntegerToFloat",
        quantized.values,
        columns,
        quantized.scale,
        scales,
        quantized.zero,
        None,
        _bias(x, linear),
        domain=CONTRIB,
    )


def _bias(x: Value, linear: LinearMap) -> Value | None:
    if linear.bias is None:
        return None
    return x.graph.weight(f"{linear.name}.bias", linear.bias)
