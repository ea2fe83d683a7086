"""Convolutions over time, and what goes with them.

Called, layers take (batch, channels, frames). `over_frames` does the same to tensors
(batch, frames, channels), as attention has them, and at the precision of the graph: in
this layout a convolution of 8-bit integers is one product.

Sequences of different lengths may share a batch. Then a mask is 1 on frames of a
sequence and 0 after its end, and each layer gives every sequence what it would give it
alone. Without padding the mask is None and costs nothing.
"""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from cosykit.convert.graph import Value
from cosykit.convert.layers.basic import Layer, Mish, Sequential
from cosykit.convert.layers.integer_convolution import integer_convolution
from cosykit.convert.layers.phased_convolution import (
    Activation,
    Phases,
    phased_convolution,
)
from cosykit.convert.module import Module, Parameter


def masked(x: Value, mask: Value | None) -> Value:
    """Set the padding to zero."""
    return x if mask is None else x * mask


class Convolution(Layer):
    """A convolution that keeps the length of its input, apart from a stride.

    Args:
        exact: Whether it is never quantized.

    Source: torch.nn.Conv1d
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int,
        *,
        stride: int = 1,
        dilation: int = 1,
        padding: int | None = None,
        exact: bool = False,
    ) -> None:
        self.weight = Parameter(outputs, inputs, kernel)
        self.bias = Parameter(outputs)
        self._exact = exact
        self._kernel, self._stride, self._dilation = kernel, stride, dilation
        self._padding = dilation * (kernel - 1) // 2 if padding is None else padding

    def __call__(self, x: Value) -> Value:
        """Convolve."""
        return x.graph.op(
            "Conv",
            x,
            x.graph.weight(self.weight.key, self.weight.array),
            x.graph.weight(self.bias.key, self.bias.array),
            attributes={
                "kernel_shape": [self._kernel],
                "strides": [self._stride],
                "dilations": [self._dilation],
                "pads": [self._padding, self._padding],
            },
        )

    def over_frames(self, x: Value, *more: Value) -> Value:
        """Convolve (batch, frames, inputs) to (batch, frames, outputs).

        Args:
            x: The inputs, or the first part of them.
            more: Further parts, of as many channels each. As integers each has its own
                range, so that a wide one does not coarsen others.
        """
        graph, parts = x.graph, (x, *more)
        if self._exact or not graph.is_quantized:
            x = graph.concat(2, *parts) if more else x
            return self(x.transpose(0, 2, 1)).transpose(0, 2, 1)
        weights = self._weights_of(len(parts)) if more else [self.weight]
        biases = [self.bias, *[None for _ in more]]
        convolved = [
            integer_convolution(
                part,
                weight,
                bias,
                stride=self._stride,
                dilation=self._dilation,
                padding=self._padding,
            )
            for part, weight, bias in zip(parts, weights, biases, strict=True)
        ]
        return reduce(Value.__add__, convolved)

    def of_phases(self, x: Phases, activation: Activation) -> Phases:
        """Convolve four phases apart; without a stride, never quantized.

        Args:
            activation: Is applied first.
        """
        return phased_convolution(x, self.weight, self.bias, self._dilation, activation)

    def _weights_of(self, parts: int) -> Sequence[Parameter]:
        """Give the weights for equal parts of the inputs."""
        weights = []
        for number, array in enumerate(np.split(self.weight.array, parts, axis=1)):
            weight = Parameter(*array.shape)
            weight.load(f"{self.weight.key}.{number}", array)
            weights.append(weight)
        return weights


class Upsampling(Layer):
    """A transposed convolution that multiplies the length by its stride.

    Source: torch.nn.ConvTranspose1d
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int) -> None:
        self.weight = Parameter(inputs, outputs, kernel)
        self.bias = Parameter(outputs)
        self._kernel, self._stride = kernel, stride

    def __call__(self, x: Value) -> Value:
        """Map (batch, inputs, frames) to (batch, outputs, stride frames)."""
        padding = (self._kernel - self._stride) // 2
        return x.graph.op(
            "ConvTranspose",
            x,
            x.graph.weight(self.weight.key, self.weight.array),
            x.graph.weight(self.bias.key, self.bias.array),
            attributes={
                "kernel_shape": [self._kernel],
                "strides": [self._stride],
                "pads": [padding, padding],
            },
        )

    def over_frames(self, x: Value) -> Value:
        """Map (batch, frames, inputs) to (batch, stride frames, outputs)."""
        if not x.graph.is_quantized:
            return self(x.transpose(0, 2, 1)).transpose(0, 2, 1)
        _, outputs, _ = self.weight.shape
        weight, bias = self._as_convolution()
        return integer_convolution(x, weight, bias).reshape(0, -1, outputs)

    def _as_convolution(self) -> tuple[Parameter, Parameter]:
        """Give the weights of a convolution that makes `stride` frames of each.

        Its outputs are all channels of the first of them, then all of the next. Frame
        `place` of those that come from a frame sees, `distance` frames away, what the
        tap `place + padding - stride distance` lets through.
        """
        inputs, outputs, kernel = self.weight.shape
        padding = (kernel - self._stride) // 2
        reach = (self._stride - 1 + padding) // self._stride
        taps = 2 * reach + 1
        array = np.zeros((self._stride, outputs, inputs, taps), np.float32)
        for place, number in np.ndindex(self._stride, taps):
            tap = place + padding - self._stride * (number - reach)
            if 0 <= tap < kernel:
                array[place, ..., number] = self.weight.array[..., tap].T
        weight = Parameter(self._stride * outputs, inputs, taps)
        weight.load(f"{self.weight.key}.interleaved", array.reshape(weight.shape))
        bias = Parameter(self._stride * outputs)
        bias.load(
            f"{self.bias.key}.interleaved", np.tile(self.bias.array, self._stride)
        )
        return weight, bias


class GroupNorm(Layer):
    """Normalisation over all frames and the channels of a group, in float32.

    Source: torch.nn.GroupNorm
    """

    def __init__(self, groups: int, channels: int, epsilon: float = 1e-5) -> None:
        self.weight = Parameter(channels)
        self.bias = Parameter(channels)
        self._groups, self._channels, self._epsilon = groups, channels, epsilon

    def __call__(self, x: Value, mask: Value | None = None) -> Value:
        """Normalise; with a mask, over the frames of each sequence alone.

        Args:
            mask: (batch, 1, frames).
        """
        graph, wide = x.graph, x.widened()
        if mask is None:
            normalised = self._over_all(wide)
        else:
            normalised = self._over_sequences(wide, mask.widened())
        weight = graph.weight(self.weight.key, self.weight.array)
        bias = graph.weight(self.bias.key, self.bias.array)
        return normalised.lowered() * weight.unsqueeze(1) + bias.unsqueeze(1)

    def _over_all(self, x: Value) -> Value:
        graph = x.graph
        normalised = graph.op(
            "InstanceNormalization",
            self._grouped(x),
            graph.constant(np.ones(self._groups, np.float32)),
            graph.constant(np.zeros(self._groups, np.float32)),
            attributes={"epsilon": self._epsilon},
        )
        return self._ungrouped(normalised)

    def _over_sequences(self, x: Value, mask: Value) -> Value:
        graph = x.graph
        frames = graph.op("ReduceSum", mask, graph.indices(2))
        count = frames * graph.constant(np.float32(self._channels // self._groups))
        sums = graph.op("ReduceSum", self._grouped(x * mask), graph.indices(2))
        centred = self._ungrouped(self._grouped(x) - sums / count) * mask
        squares = graph.op("ReduceSumSquare", self._grouped(centred), graph.indices(2))
        epsilon = graph.constant(np.float32(self._epsilon))
        deviation = graph.op("Sqrt", squares / count + epsilon)
        return self._ungrouped(self._grouped(centred) / deviation)

    def _grouped(self, x: Value) -> Value:
        return x.reshape(0, self._groups, -1)

    def _ungrouped(self, x: Value) -> Value:
        return x.reshape(0, self._channels, -1)


class NormalisedConvolution(Module):
    """A convolution over three frames, normalised, then Mish.

    Args:
        exact: Whether it is never quantized.

    Source: matcha/models/components/decoder.py Block1D
    """

    def __init__(
        self, inputs: int, outputs: int, groups: int = 8, *, exact: bool = False
    ) -> None:
        self._convolution = Convolution(inputs, outputs, 3, exact=exact)
        self._norm, self._mish = GroupNorm(groups, outputs), Mish()
        self.block = Sequential(self._convolution, self._norm, self._mish)

    def over_frames(self, *parts: Value, mask: Value | None) -> Value:
        """Map (batch, frames, inputs) to (batch, frames, outputs).

        Args:
            parts: As `Convolution` takes them; zero on padding.
            mask: (batch, frames, 1).
        """
        convolved = self._convolution.over_frames(*parts).transpose(0, 2, 1)
        by_channel = None if mask is None else mask.transpose(0, 2, 1)
        normalised = self._mish(self._norm(convolved, by_channel))
        return masked(normalised.transpose(0, 2, 1), mask)
