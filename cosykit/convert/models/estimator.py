"""The estimator of the first generation: where a noisy mel should flow.

A U-Net: down through the levels, the first of which halves the time, through the
middle, and up again. Every stage is a residual block and blocks of attention.

Source: cosyvoice/flow/decoder.py ConditionalDecoder;
matcha/models/components/decoder.py ResnetBlock1D, TimestepEmbedding, SinusoidalPosEmb;
matcha/models/components/transformer.py BasicTransformerBlock
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosykit.convert.dimensions import EstimatorDimensions
from cosykit.convert.graph import CONTRIB, Graph, Value
from cosykit.convert.layers.basic import (
    Gelu,
    Layer,
    LayerNorm,
    Linear,
    Mish,
    Sequential,
    Silu,
)
from cosykit.convert.layers.convolution import (
    Convolution,
    NormalisedConvolution,
    Upsampling,
    masked,
)
from cosykit.convert.module import Module, ModuleList

# What the estimator sees of a frame: noisy mel, mean, speaker, prompt's mel.
_PARTS = 4
_TIME_SCALE = 1000.0
_TIME_WIDTH = 4
_HIDDEN_WIDTH = 4
_HIDES = -1e10


class _Attention(Module):
    def __init__(self, channels: int, heads: int, head_size: int) -> None:
        inner = heads * head_size
        self.to_q = Linear(channels, inner, bias=False)
        self.to_k = Linear(channels, inner, bias=False)
        self.to_v = Linear(channels, inner, bias=False)
        self.to_out = Sequential(Linear(inner, channels))
        self._heads = heads

    def __call__(self, x: Value, keys: Value | None) -> Value:
        attended = x.graph.op(
            "MultiHeadAttention",
            self.to_q(x),
            self.to_k(x),
            self.to_v(x),
            None,
            keys,
            attributes={"num_heads": self._heads, "mask_filter_value": _HIDES},
            domain=CONTRIB,
        )
        return self.to_out(attended)


class _Widening(Layer):
    def __init__(self, channels: int, hidden: int) -> None:
        self.proj = Linear(channels, hidden)
        self._gelu = Gelu()

    def __call__(self, x: Value) -> Value:
        return self._gelu(self.proj(x))


class _Dropout(Layer):
    """Nothing at inference, but it has a number in the checkpoint's keys."""

    def __call__(self, x: Value) -> Value:
        return x


class _FeedForward(Layer):
    def __init__(self, channels: int) -> None:
        hidden = channels * _HIDDEN_WIDTH
        self.net = Sequential(
            _Widening(channels, hidden), _Dropout(), Linear(hidden, channels)
        )

    def __call__(self, x: Value) -> Value:
        return self.net(x)


class _AttentionBlock(Module):
    """Attention and feed-forward, (batch, frames, channels) both ways."""

    def __init__(self, channels: int, heads: int, head_size: int) -> None:
        self.norm1 = LayerNorm(channels)
        self.attn1 = _Attention(channels, heads, head_size)
        self.norm3 = LayerNorm(channels)
        self.ff = _FeedForward(channels)

    def __call__(self, x: Value, keys: Value | None) -> Value:
        x = x + self.attn1(self.norm1(x), keys)
        return x + self.ff(self.norm3(x))


class _ResidualBlock(Module):
    def __init__(self, inputs: int, outputs: int, time_size: int) -> None:
        self.mlp = Sequential(Mish(), Linear(time_size, outputs))
        self.block1 = NormalisedConvolution(inputs, outputs)
        self.block2 = NormalisedConvolution(outputs, outputs)
        self.res_conv = Convolution(inputs, outputs, 1)

    def __call__(self, x: Value, time: Value, mask: Value | None) -> Value:
        h = self.block1(x, mask) + self.mlp(time).unsqueeze(2)
        return self.block2(h, mask) + self.res_conv(masked(x, mask))


class _Resampling(Layer):
    """A convolution that the checkpoint keeps one name deeper."""

    def __init__(self, conv: Layer) -> None:
        self.conv = conv

    def __call__(self, x: Value) -> Value:
        return self.conv(x)


@dataclass(frozen=True, slots=True)
class _Padding:
    """Where sequences end, at one level; nothing where none is padded.

    Attributes:
        mask: 1 on frames of a sequence, 0 after, (batch, 1, frames).
        keys: The same for attention, int32 (batch, frames).
    """

    mask: Value | None
    keys: Value | None


class _Stage(ModuleList[Module]):
    """A residual block, blocks of attention, and perhaps a change of rate."""

    def __init__(
        self,
        residual: _ResidualBlock,
        attention: Sequence[_AttentionBlock],
        resampling: Layer | None = None,
    ) -> None:
        self._residual, self._attention = residual, ModuleList(attention)
        self._resampling = resampling
        parts: Sequence[Module] = (self._residual, self._attention)
        super().__init__(parts if resampling is None else (*parts, resampling))

    def __call__(self, x: Value, time: Value, padding: _Padding) -> Value:
        """Map (batch, inputs, frames) to (batch, outputs, frames)."""
        x = self._residual(x, time, padding.mask).transpose(0, 2, 1)
        for block in self._attention:
            x = block(x, padding.keys)
        return x.transpose(0, 2, 1)

    def resample(self, x: Value, padding: _Padding) -> Value:
        """Go to the rate of the next stage."""
        assert self._resampling is not None
        return self._resampling(masked(x, padding.mask))


class _TimeEmbedding(Module):
    def __init__(self, inputs: int, size: int) -> None:
        self.linear_1 = Linear(inputs, size)
        self.linear_2 = Linear(size, size)
        self._inputs, self._silu = inputs, Silu()

    def __call__(self, time: Value) -> Value:
        """Map times (batch) to (batch, size)."""
        graph = time.graph
        # In this order, as upstream: another rounds angles of up to 1000 differently,
        # which moves all frames the same way.
        angles = time.unsqueeze(1) * _TIME_SCALE * graph.constant(self._rates())
        waves = graph.concat(1, graph.op("Sin", angles), graph.op("Cos", angles))
        return self.linear_2(self._silu(self.linear_1(waves)))

    def _rates(self) -> NDArray[np.float32]:
        half = self._inputs // 2
        steps = np.arange(half) * (-np.log(10_000.0) / (half - 1))
        return np.asarray(np.exp(steps), np.float32)


class Estimator(Module):
    """The weights below `decoder.estimator` of a `flow.pt`."""

    def __init__(self, dimensions: EstimatorDimensions) -> None:
        self._dimensions = dimensions
        self._time_size = dimensions.channels[0] * _TIME_WIDTH
        inputs = dimensions.mels * _PARTS
        self.time_mlp = _TimeEmbedding(inputs, self._time_size)
        self.down_blocks = ModuleList(self._way_down(inputs))
        deepest = dimensions.channels[-1]
        self.mid_blocks = ModuleList(
            [self._stage(deepest, deepest) for _ in range(dimensions.middle)]
        )
        self.up_blocks = ModuleList(self._way_up())
        highest = dimensions.channels[0]
        self.final_block = NormalisedConvolution(highest, highest)
        self.final_proj = Convolution(highest, dimensions.mels, 1)

    def _way_down(self, inputs: int) -> Sequence[_Stage]:
        channels = self._dimensions.channels
        halvings = [_Resampling(Convolution(c, c, 3, stride=2)) for c in channels[:-1]]
        last = Convolution(channels[-1], channels[-1], 3)
        return [
            self._stage(before, after, resampling)
            for before, after, resampling in zip(
                (inputs, *channels[:-1]), channels, (*halvings, last), strict=True
            )
        ]

    def _way_up(self) -> Sequence[_Stage]:
        befores = tuple(reversed(self._dimensions.channels))
        afters = (*befores[1:], befores[-1])
        doublings = [_Resampling(Upsampling(c, c, 4, 2)) for c in afters[:-1]]
        last = Convolution(afters[-1], afters[-1], 3)
        return [
            self._stage(2 * before, after, resampling)
            for before, after, resampling in zip(
                befores, afters, (*doublings, last), strict=True
            )
        ]

    def _stage(
        self, inputs: int, outputs: int, resampling: Layer | None = None
    ) -> _Stage:
        sizes = self._dimensions
        attention = [
            _AttentionBlock(outputs, sizes.heads, sizes.head_size)
            for _ in range(sizes.blocks)
        ]
        residual = _ResidualBlock(inputs, outputs, self._time_size)
        return _Stage(residual, attention, resampling)

    def __call__(self, x: Value, time: Value, mask: Value | None) -> Value:
        """Estimate the velocity.

        Args:
            x: Noisy mel, mean, speaker and prompt, (batch, 4 mels, frames).
            time: From 0 to 1, (batch).
            mask: 1 on frames of a sequence, 0 after, (batch, 1, frames).
        """
        time = self.time_mlp(time)
        paddings, skipped = [], []
        for stage in self.down_blocks:
            padding = _padding(mask)
            x = stage(x, time, padding)
            paddings.append(padding)
            skipped.append(x)
            x = stage.resample(x, padding)
            mask = None if mask is None else _every_other(mask)
        for stage in self.mid_blocks:
            x = stage(x, time, paddings[-1])
        for stage in self.up_blocks:
            padding, skip = paddings.pop(), skipped.pop()
            x = x.graph.concat(1, x.slice(2, 0, skip.size(2)), skip)
            x = stage.resample(stage(x, time, padding), padding)
        x = self.final_block(x, padding.mask)
        return masked(self.final_proj(x), padding.mask)


def _padding(mask: Value | None) -> _Padding:
    if mask is None:
        return _Padding(None, None)
    return _Padding(mask, mask.squeeze(1).cast(np.int32))


def _every_other(mask: Value) -> Value:
    graph = mask.graph
    start, end, axis, step = map(graph.indices, (0, np.iinfo(np.int64).max, 2, 2))
    return graph.op("Slice", mask, start, end, axis, step)


def estimator_graph(estimator: Estimator, mels: int, *, ragged: bool) -> Graph:
    """Build estimator.onnx.

    Inputs:
        x: float32 (batch, mels, frames), the noisy mel
        mu: float32 (batch, mels, frames), the mean
        speaker: float32 (batch, mels)
        condition: float32 (batch, mels, frames), the prompt's mel, zero after it
        time: float32 (batch), from 0 to 1
        lengths: int64 (batch), frames of each sequence; only where `ragged`
    Outputs:
        velocity: float32 (batch, mels, frames), zero on padding

    Args:
        ragged: Whether sequences of a batch may differ in length; costs time.
    """
    graph = Graph("estimator")
    shape = ("batch", mels, "frames")
    x = graph.input("x", np.float32, shape)
    mu = graph.input("mu", np.float32, shape)
    speaker = graph.input("speaker", np.float32, ("batch", mels))
    condition = graph.input("condition", np.float32, shape)
    time = graph.input("time", np.float32, ("batch",))
    mask = _mask(x, graph.input("lengths", np.int64, ("batch",))) if ragged else None
    spread = graph.op(
        "Expand",
        speaker.unsqueeze(2),
        graph.op("Shape", x),
    )
    joined = graph.concat(1, x, mu, spread, condition)
    graph.output("velocity", estimator(joined, time, mask), np.float32, shape)
    return graph


def _mask(x: Value, lengths: Value) -> Value:
    graph = x.graph
    zero, one = (graph.constant(np.int64(n)) for n in (0, 1))
    places = graph.op("Range", zero, x.size(2).squeeze(0), one)
    inside = graph.op("Less", places.unsqueeze(0), lengths.unsqueeze(1))
    return inside.cast(np.float32).unsqueeze(1)
