"""Residual blocks of the vocoder: convolutions, and Snake as their activation.

They work on (batch, channels, frames); at int8 on (batch, frames, channels); or on four
phases apart.
"""

from collections.abc import Sequence

import numpy as np

from cosykit.convert.graph import Graph, Value
from cosykit.convert.layers.basic import Layer
from cosykit.convert.layers.convolution import Convolution
from cosykit.convert.layers.phased_convolution import Phases
from cosykit.convert.module import ModuleList, Parameter


def works_over_frames(graph: Graph) -> bool:
    """Tell whether residual blocks work on (batch, frames, channels)."""
    return graph.is_quantized


class _Snake(Layer):
    """The sum of x and sin^2(a x) / a.

    Source: cosyvoice/transformer/activation.py Snake
    """

    def __init__(self, channels: int) -> None:
        self.alpha = Parameter(channels)

    def __call__(self, x: Value) -> Value:
        name, alpha = self.alpha.key, self.alpha.array
        if not works_over_frames(x.graph):
            alpha = alpha[:, None]
        wave = x.graph.op("Sin", x * x.graph.weight(name, alpha))
        # An alpha near zero leaves x as it is; its inverse may not be infinite at fp16.
        limit = np.finfo(x.graph.floating).max.astype(np.float32)
        inverse = np.clip(1 / (alpha + np.float32(1e-9)), -limit, limit)
        return x + wave * wave * x.graph.weight(f"{name}.inverse", inverse)


class ResidualBlock(Layer):
    """Convolutions, each pair with a way around it.

    Source: cosyvoice/hifigan/generator.py ResBlock
    """

    def __init__(self, channels: int, kernel: int, dilations: Sequence[int]) -> None:
        self.convs1 = ModuleList(
            [Convolution(channels, channels, kernel, dilation=d) for d in dilations]
        )
        self.convs2 = ModuleList(
            [Convolution(channels, channels, kernel) for _ in dilations]
        )
        self.activations1 = ModuleList([_Snake(channels) for _ in dilations])
        self.activations2 = ModuleList([_Snake(channels) for _ in dilations])

    def __call__(self, x: Value) -> Value:
        """Apply it to (batch, channels, frames), or as `works_over_frames` says."""
        convolve = Convolution.__call__
        if works_over_frames(x.graph):
            convolve = Convolution.over_frames
        for first, second, before, between in zip(
            self.convs1, self.convs2, self.activations1, self.activations2, strict=True
        ):
            x = x + convolve(second, between(convolve(first, before(x))))
        return x

    def of_phases(self, x: Phases) -> Phases:
        """Apply it to four phases apart."""
        for first, second, before, between in zip(
            self.convs1, self.convs2, self.activations1, self.activations2, strict=True
        ):
            x = x + second.of_phases(first.of_phases(x, before), between)
        return x
