"""Convolutions over time as one product of 8-bit integers.

Tensors are (batch, frames, channels): the channels of a frame lie next to each other,
so the frames that an output sees, copied side by side, are one row of a product.

    (frames, channels)            quantized once, to unsigned bytes
    (frames, taps * channels)     a window for every output frame
    (frames, outputs)             times signed bytes; scaled, and the bias added, while
                                  the sums are still in the cache

Against float32 `Conv`, on a Zen 4 core with VNNI: 2.2 times as fast at 128 channels and
22,016 frames, 3.4 times at 256 channels and 2,752 frames, quantizing included. Windows
joined from slices are slower by up to a quarter.
"""

import numpy as np
from numpy.typing import NDArray

from cosykit.convert.graph import CONTRIB, Quantized, Value
from cosykit.convert.module import Parameter, Weights
from cosykit.convert.quantize import quantized_columns

_FRAMES = 1


def integer_convolution(
    x: Value,
    weight: Parameter,
    bias: Parameter | None,
    *,
    stride: int = 1,
    dilation: int = 1,
    padding: int | None = None,
) -> Value:
    """Convolve float32 (batch, frames, inputs) to float32 (batch, frames, outputs).

    Args:
        weight: (outputs, inputs, taps), as `Convolution` holds it.
        padding: Zeros at each end; None keeps the length, apart from a stride.
    """
    graph, quantized = x.graph, x.graph.quantized(x)
    taps = weight.shape[2]
    if padding is None:
        padding = dilation * (taps - 1) // 2
    names = [f"{weight.key}.{part}" for part in ("columns", "column_scales")]
    columns, scales = graph.weights(names, lambda: _packed(weight.array))
    return graph.op(
        "MatMulIntegerToFloat",
        _windows(_padded(quantized, padding), weight, stride, dilation),
        columns,
        quantized.scale,
        scales,
        quantized.zero,
        None,
        graph.weight(bias.key, bias.array) if bias else None,
        domain=CONTRIB,
    )


def _padded(x: Quantized, padding: int) -> Value:
    if not padding:
        return x.values
    graph = x.values.graph
    pads = graph.indices(0, padding, 0, 0, padding, 0)
    return graph.op("Pad", x.values, pads, x.zero)


def _windows(frames: Value, weight: Parameter, stride: int, dilation: int) -> Value:
    """Copy the frames that each output sees to one row."""
    graph = frames.graph
    _, inputs, taps = weight.shape
    if taps == stride == 1:
        return frames
    offsets = np.arange(taps) * dilation
    end = frames.size(_FRAMES) - graph.indices(int(offsets[-1]))
    first = graph.op(
        "Range",
        graph.constant(np.int64(0)),
        end.squeeze(0),
        graph.constant(np.int64(stride)),
    )
    seen = first.unsqueeze(1) + graph.constant(offsets)
    windows = graph.op("Gather", frames, seen, attributes={"axis": _FRAMES})
    return windows.reshape(0, -1, taps * inputs)


def _packed(weights: Weights) -> tuple[NDArray[np.generic], ...]:
    """Quantize weights with a scale for each output, in the order of the windows."""
    rows = weights.transpose(0, 2, 1).reshape(weights.shape[0], -1)
    packed = quantized_columns(rows)
    return packed.values, packed.scales
