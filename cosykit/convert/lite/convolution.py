"""Write an integer convolution as one integer product.

A convolution over time is a product once the channels of a frame lie next to each
other, and the frames that the taps see stand side by side:

    (channels, frames)                        as `ConvInteger` takes them
    (frames, channels)                        transposed
    (frames, taps * channels)                 a window for every output frame
    (frames, outputs)                         times (taps * channels, outputs)
    (outputs, frames)                         transposed back

Integers sum to the same in any order, so the result has the bits of `ConvInteger`. Only
the sign of the weights makes it faster: `ConvInteger` takes them unsigned, but x86's
int8 instructions (VNNI) multiply unsigned by signed. Over 11 taps and 128 channels one
Zen 4 core computes 138 billion products a second with signed weights; with unsigned
ones 66, in this form and as `ConvInteger` alike; as float32 `Conv` 51. Tried and
slower: windows joined from slices (by 6 %), a product for each tap (its int32 sums are
4 times the bytes of a window). With the weights on the left nothing need be transposed,
but then the activations would have to be signed, and to be packed anew in every run.

Without VNNI, ONNX Runtime's signed kernels for x86 add pairs of products in 16 bits and
saturate. There a session has to be opened with `session.x64quantprecision` at 1, which
makes the weights unsigned again; with VNNI that would only cost the speed. On arm64 the
signed kernels are exact: dot product instructions sum in 32 bits, and without them two
products of -128 by -128 are needed to overflow 16 bits, while no output of this voice
has two weights of -128.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from onnx import AttributeProto, NodeProto, TensorProto
from onnx.helper import make_node
from onnx.numpy_helper import from_array, to_array

_SWAP_CHANNELS_AND_FRAMES = [0, 2, 1]
_FRAME_AXIS = 1


@dataclass(frozen=True, slots=True)
class FrameProduct:
    """The nodes that take the place of a convolution, and their constants."""

    nodes: list[NodeProto]
    constants: list[TensorProto]


@dataclass(frozen=True, slots=True)
class _Convolution:
    """A convolution over time.

    Attributes:
        frames: Name of the quantized input, (batch, channels, frames).
        zero: Name of its zero point, which is also what pads it; empty for 0.
        weights: Quantized weights, (outputs, channels, taps).
        weights_zero: Their zero point: one, or one for each output.
        pads: How many frames are added before and after.
        result: Name of the int32 output, (batch, outputs, frames).
    """

    frames: str
    zero: str
    weights: NDArray[np.generic]
    weights_zero: NDArray[np.generic]
    pads: tuple[int, int]
    stride: int
    dilation: int
    result: str


def as_frame_product(
    node: NodeProto, constants: Mapping[str, TensorProto]
) -> FrameProduct | None:
    """Rewrite a convolution over time whose weights are constant.

    Returns:
        None for any other node, such as a convolution in groups: it stays as it is.
    """
    convolution = _read(node, constants)
    return _Writer(convolution).write() if convolution else None


def _read(node: NodeProto, constants: Mapping[str, TensorProto]) -> _Convolution | None:
    if node.op_type != "ConvInteger":
        return None
    frames, weights, zero, weights_zero = (*node.input, "", "")[:4]
    if weights not in constants or (weights_zero and weights_zero not in constants):
        return None
    kernel = to_array(constants[weights])
    attributes = {attribute.name: attribute for attribute in node.attribute}
    if kernel.ndim != 3 or not _is_plain(attributes):
        return None
    before, after = _integers(attributes, "pads", (0, 0))
    return _Convolution(
        frames=frames,
        zero=zero,
        weights=kernel,
        weights_zero=(
            to_array(constants[weights_zero])
            if weights_zero
            else np.zeros((), kernel.dtype)
        ),
        pads=(before, after),
        stride=_integers(attributes, "strides", (1,))[0],
        dilation=_integers(attributes, "dilations", (1,))[0],
        result=node.output[0],
    )


def _is_plain(attributes: Mapping[str, AttributeProto]) -> bool:
    """Tell whether there is one group, and the pads are given as numbers."""
    grouped = "group" in attributes and attributes["group"].i != 1
    padding = attributes["auto_pad"].s if "auto_pad" in attributes else b"NOTSET"
    return not grouped and padding == b"NOTSET"


def _integers(
    attributes: Mapping[str, AttributeProto], name: str, default: tuple[int, ...]
) -> tuple[int, ...]:
    return tuple(attributes[name].ints) if name in attributes else default


def _signed(quantized: NDArray[np.generic]) -> NDArray[np.int8]:
    """Move weights, and their zero point alike, down by 128 if they are unsigned."""
    if quantized.dtype == np.uint8:
        return (quantized.astype(np.int16) - 128).astype(np.int8)
    return quantized.astype(np.int8)


class _Writer:
    """Writes one convolution as a product."""

    def __init__(self, convolution: _Convolution) -> None:
        self._convolution = convolution
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def write(self) -> FrameProduct:
        """Write the nodes in the order in which they run."""
        result = self._convolution.result
        sums = self._multiply(self._windows(self._pad(self._transpose())))
        self._nodes.append(
            make_node("Transpose", [sums], [result], perm=_SWAP_CHANNELS_AND_FRAMES)
        )
        return FrameProduct(self._nodes, self._constants)

    def _transpose(self) -> str:
        # Here, where an element is one byte; the transposition back moves four.
        frames, output = self._convolution.frames, self._name("frames_first")
        return self._append(
            make_node("Transpose", [frames], [output], perm=_SWAP_CHANNELS_AND_FRAMES)
        )

    def _pad(self, frames: str) -> str:
        before, after = self._convolution.pads
        if not before and not after:
            return frames
        pads = self._constant("pads", np.array([0, before, 0, 0, after, 0]))
        inputs = [frames, pads, self._convolution.zero]
        return self._append(make_node("Pad", inputs, [self._name("padded")]))

    def _windows(self, frames: str) -> str:
        """Copy the frames that each output frame sees to one row."""
        _, channels, taps = self._convolution.weights.shape
        if taps == 1 and self._convolution.stride == 1:
            return frames
        windows = self._append(
            make_node(
                "Gather",
                [frames, self._positions(frames)],
                [self._name("windows")],
                axis=_FRAME_AXIS,
            )
        )
        shape = self._constant("row", np.array([0, -1, taps * channels]))
        return self._append(
            make_node("Reshape", [windows, shape], [self._name("rows")])
        )

    def _positions(self, frames: str) -> str:
        """Say where each output frame finds the frames it sees, (frames, taps)."""
        convolution = self._convolution
        taps = np.arange(convolution.weights.shape[-1]) * convolution.dilation
        zero = self._constant("zero", np.array(0))
        reach = self._constant("reach", np.array(taps[-1]))
        stride = self._constant("stride", np.array(convolution.stride))
        offsets = self._constant("taps", taps)
        column = self._constant("column", np.array([1]))
        length, count = self._name("length"), self._name("count")
        end, first = self._name("end"), self._name("first")
        start, positions = self._name("start"), self._name("positions")
        self._nodes += [
            make_node(
                "Shape", [frames], [length], start=_FRAME_AXIS, end=_FRAME_AXIS + 1
            ),
            make_node("Squeeze", [length], [count]),
            make_node("Sub", [count, reach], [end]),
            make_node("Range", [zero, end, stride], [first]),
            make_node("Unsqueeze", [first, column], [start]),
            make_node("Add", [start, offsets], [positions]),
        ]
        return positions

    def _multiply(self, rows: str) -> str:
        outputs, channels, taps = self._convolution.weights.shape
        matrix = self._convolution.weights.transpose(2, 1, 0)
        weights = self._constant(
            "weights", _signed(matrix.reshape(taps * channels, outputs))
        )
        zero = self._constant("weights_zero", _signed(self._convolution.weights_zero))
        inputs = [rows, weights, self._convolution.zero, zero]
        return self._append(make_node("MatMulInteger", inputs, [self._name("sums")]))

    def _append(self, node: NodeProto) -> str:
        self._nodes.append(node)
        return node.output[0]

    def _constant(self, name: str, array: NDArray[np.generic]) -> str:
        name = self._name(name)
        self._constants.append(from_array(array, name))
        return name

    def _name(self, name: str) -> str:
        return f"{self._convolution.result}/{name}"
