"""Convolutions over time, and what goes with them.

Tensors are (batch, channels, frames).
Sequences of different lengths may share a batch. Then a mask (batch, 1, frames) is 1 on
frames of a sequence and 0 after its end, and each layer gives every sequence what it
would give it alone. Without padding the mask is None and costs nothing.
"""

import numpy as np

from cosykit.convert.graph import Value
from cosykit.convert.layers.basic import Layer, Mish, Sequential
from cosykit.convert.module import Parameter


def masked(x: Value, mask: Value | None) -> Value:
    """Set the padding to zero."""
    return x if mask is None else x * mask


class Convolution(Layer):
    """A convolution that keeps the length of its input, apart from a stride.

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
    ) -> None:
        self.weight = Parameter(outputs, inputs, kernel)
        self.bias = Parameter(outputs)
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


class GroupNorm(Layer):
    """Normalisation over all frames and the channels of a group.

    Source: torch.nn.GroupNorm
    """

    def __init__(self, groups: int, channels: int, epsilon: float = 1e-5) -> None:
        self.weight = Parameter(channels)
        self.bias = Parameter(channels)
        self._groups, self._channels, self._epsilon = groups, channels, epsilon

    def __call__(self, x: Value, mask: Value | None = None) -> Value:
        """Normalise; with a mask, over the frames of each sequence alone."""
        graph = x.graph
        if mask is None:
            normalised = self._over_all(x)
        else:
            normalised = self._over_sequences(x, mask)
        weight = graph.weight(self.weight.key, self.weight.array)
        bias = graph.weight(self.bias.key, self.bias.array)
        return normalised * weight.unsqueeze(1) + bias.unsqueeze(1)

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
        count = frames * float(self._channels // self._groups)
        sums = graph.op("ReduceSum", self._grouped(x * mask), graph.indices(2))
        centred = self._ungrouped(self._grouped(x) - sums / count) * mask
        squares = graph.op("ReduceSumSquare", self._grouped(centred), graph.indices(2))
        deviation = graph.op("Sqrt", squares / count + self._epsilon)
        return self._ungrouped(self._grouped(centred) / deviation)

    def _grouped(self, x: Value) -> Value:
        return x.reshape(0, self._groups, -1)

    def _ungrouped(self, x: Value) -> Value:
        return x.reshape(0, self._channels, -1)


class NormalisedConvolution(Layer):
    """A convolution over three frames, normalised, then Mish.

    Source: matcha/models/components/decoder.py Block1D
    """

    def __init__(self, inputs: int, outputs: int, groups: int = 8) -> None:
        self._convolution = Convolution(inputs, outputs, 3)
        self._norm, self._mish = GroupNorm(groups, outputs), Mish()
        self.block = Sequential(self._convolution, self._norm, self._mish)

    def __call__(self, x: Value, mask: Value | None = None) -> Value:
        """Map (batch, inputs, frames) to (batch, outputs, frames)."""
        convolved = self._convolution(masked(x, mask))
        return masked(self._mish(self._norm(convolved, mask)), mask)
