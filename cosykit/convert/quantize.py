"""Pack weights for the integer products of ONNX Runtime.

Both ways are symmetric. Columns (int8, one scale an output) go to products of
activations that are quantized as a whole; blocks (8 or 4 bits, one scale for some
inputs of an output) to `MatMulNBits`, which quantizes every row of activations alone.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Bits = Literal[4, 8]
Floats = NDArray[np.float32]

_COLUMN_LIMIT = 127
# At 4 bits a block takes of these scales the one with the least squared error; the
# extreme weight of the block is then clipped a little.
_SHRINKINGS = (1.0, 0.92, 0.84)


@dataclass(frozen=True, slots=True)
class QuantizedColumns:
    """weight = values scales.

    Attributes:
        values: int8 (inputs, outputs).
        scales: float32 (outputs).
    """

    values: NDArray[np.int8]
    scales: Floats


@dataclass(frozen=True, slots=True)
class QuantizedBlocks:
    """weight = (values - 2^(bits - 1)) scales, in the layout of `MatMulNBits`.

    Attributes:
        values: uint8 (outputs, blocks, bytes of a block); of two weights in a byte the
            first has the low bits.
        scales: float32 (outputs, blocks).
    """

    values: NDArray[np.uint8]
    scales: Floats


def quantized_columns(weight: Floats) -> QuantizedColumns:
    """Quantize a weight of shape (outputs, inputs)."""
    scales = _not_zero(np.abs(weight).max(axis=1) / _COLUMN_LIMIT)
    values = np.rint(weight / scales[:, None]).astype(np.int8)
    return QuantizedColumns(np.ascontiguousarray(values.T), scales)


def quantized_blocks(weight: Floats, bits: Bits, block: int) -> QuantizedBlocks:
    """Quantize a weight of shape (outputs, inputs); the last block is filled up."""
    outputs, inputs = weight.shape
    padded = np.pad(weight, ((0, 0), (0, -inputs % block)))
    blocks = padded.reshape(outputs, -1, block)
    scales = _block_scales(blocks, bits)
    values = (_rounded(blocks, scales, bits) + 2 ** (bits - 1)).astype(np.uint8)
    if bits == 4:
        values = values[..., ::2] | values[..., 1::2] << 4
    return QuantizedBlocks(values, scales)


def _block_scales(blocks: Floats, bits: Bits) -> Floats:
    """Choose scales; the extreme weight of a block goes to the lower, longer side."""
    low, high = blocks.min(axis=-1), blocks.max(axis=-1)
    extreme = np.where(-low > high, low, high)
    scales = _not_zero(extreme / -(2 ** (bits - 1)))
    if bits == 8:
        return scales
    return _least_error(blocks, scales, bits)


def _least_error(blocks: Floats, scales: Floats, bits: Bits) -> Floats:
    best: Floats = scales
    least: Floats = np.full(scales.shape, np.inf, np.float32)
    for shrinking in _SHRINKINGS:
        tried: Floats = scales * np.float32(shrinking)
        rest = _rounded(blocks, tried, bits)
        rest *= tried[..., None]
        rest -= blocks
        error: Floats = np.einsum("obi,obi->ob", rest, rest)
        best = np.where(error < least, tried, best)
        np.minimum(error, least, out=least)
    return best


def _rounded(blocks: Floats, scales: Floats, bits: Bits) -> Floats:
    limit = 2 ** (bits - 1)
    levels: Floats = blocks * np.reciprocal(scales)[..., None]
    np.rint(levels, out=levels)
    return np.clip(levels, -limit, limit - 1, out=levels)


def _not_zero(scales: NDArray[np.floating]) -> Floats:
    """Give weights that are all zero some scale."""
    return np.where(scales == 0, 1, scales).astype(np.float32)
