"""The estimator of the first generation: where a noisy mel should flow.

A U-Net: down through the levels, the first of which halves the time, through the
middle, and up again. Every stage is a residual block and blocks of attention. Inside,
tensors are (batch, frames, channels).

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
from cosykit.convert.layers.integer_attention import (
    Scene,
    integer_attention,
    scene_of,
)
from cosykit.convert.layers.product import joined, product
from cosykit.convert.module import Module, ModuleList
from cosykit.spec import Precision

# What the estimator sees of a frame: noisy mel, mean, speaker, prompt's mel.
_PARTS = 4
_TIME_SCALE = np.float32(1000)
_TIME_WIDTH = 4
_HIDDEN_WIDTH = 4
_HIDES = -1e10


@dataclass(frozen=True, slots=True)
class _Level:
    """What all stages of one frame rate share.

    Attributes:
        mask: 1 on frames of a sequence, 0 after, (batch, frames, 1); None where nothing
            is padded.
        keys: The same for attention, int32 (batch, frames).
        scene: What attention of integers needs; None if it is of floats.
    """

    mask: Value | None
    keys: Value | None
    scene: Scene | None


class _Attention(Module):
    def __init__(self, channels: int, heads: int, head_size: int) -> None:
        inner = heads * head_size
        self.to_q = Linear(channels, inner, bias=False)
        self.to_k = Linear(channels, inner, bias=False)
        self.to_v = Linear(channels, inner, bias=False)
        self.to_out = Sequential(Linear(inner, channels))
        self._heads, self._head_size = heads, head_size

    def __call__(self, x: Value, level: _Level) -> Value:
        q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
        if level.scene:
            attended = integer_attention(
                q, k, v, self._heads, self._head_size, level.scene
            )
        else:
            attended = x.graph.op(
                "MultiHeadAttention",
                q,
                k,
                v,
                None,
                level.keys,
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
    def __init__(self, channels: int, heads: int, head_size: int) -> None:
        self.norm1 = LayerNorm(channels)
        self.attn1 = _Attention(channels, heads, head_size)
        self.norm3 = LayerNorm(channels)
        self.ff = _FeedForward(channels)

    def __call__(self, x: Value, level: _Level) -> Value:
        x = x + self.attn1(self.norm1(x), level)
        return x + self.ff(self.norm3(x))


class _ResidualBlock(Module):
    def __init__(self, inputs: int, outputs: int, time_size: int) -> None:
        self._shift = Linear(time_size, outputs)
        self.mlp = Sequential(Mish(), self._shift)
        self.block1 = NormalisedConvolution(inputs, outputs)
        self.block2 = NormalisedConvolution(outputs, outputs)
        self.res_conv = Convolution(inputs, outputs, 1)

    @property
    def shift(self) -> Linear:
        """The map from a time, after Mish, to what it adds to every frame."""
        return self._shift

    def __call__(
        self, parts: Sequence[Value], shift: Value, mask: Value | None
    ) -> Value:
        parts = [masked(part, mask) for part in parts]
        h = masked(self.block1.over_frames(*parts, mask=mask) + shift, mask)
        around = self.res_conv.over_frames(*parts)
        return self.block2.over_frames(h, mask=mask) + around


class _Resampling(Module):
    """A convolution that the checkpoint keeps one name deeper."""

    def __init__(self, conv: Convolution | Upsampling) -> None:
        self.conv = conv

    def over_frames(self, x: Value) -> Value:
        return self.conv.over_frames(x)


_Resampler = Convolution | _Resampling


class _Stage(ModuleList[Module]):
    """A residual block, blocks of attention, and perhaps a change of rate."""

    def __init__(
        self,
        residual: _ResidualBlock,
        attention: Sequence[_AttentionBlock],
        resampling: _Resampler | None = None,
    ) -> None:
        self._residual, self._attention = residual, ModuleList(attention)
        self._resampling = resampling
        parts: Sequence[Module] = (self._residual, self._attention)
        super().__init__(parts if resampling is None else (*parts, resampling))

    @property
    def shift(self) -> Linear:
        """The map from a time to what it adds to every frame."""
        return self._residual.shift

    def __call__(self, parts: Sequence[Value], shift: Value, level: _Level) -> Value:
        """Map parts of (batch, frames, inputs) to (batch, frames, outputs)."""
        x = self._residual(parts, shift, level.mask)
        for block in self._attention:
            x = block(x, level)
        return x

    def resample(self, x: Value, level: _Level) -> Value:
        """Go to the rate of the next stage."""
        assert self._resampling is not None
        return self._resampling.over_frames(masked(x, level.mask))


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
        scaled = time.unsqueeze(1) * graph.constant(_TIME_SCALE)
        angles = scaled * graph.constant(self._rates())
        waves = graph.concat(1, graph.op("Sin", angles), graph.op("Cos", angles))
        return self.linear_2(self._silu(self.linear_1(waves.lowered())))

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
        self.final_block = NormalisedConvolution(highest, highest, exact=True)
        self.final_proj = Convolution(highest, dimensions.mels, 1, exact=True)
        self._mish = Mish()

    def _way_down(self, inputs: int) -> Sequence[_Stage]:
        channels = self._dimensions.channels
        halvings = [_Resampling(Convolution(c, c, 3, stride=2)) for c in channels[:-1]]
        last = Convolution(channels[-1], channels[-1], 3)
        resamplers: Sequence[_Resampler] = (*halvings, last)
        return [
            self._stage(before, after, resampler)
            for before, after, resampler in zip(
                (inputs, *channels[:-1]), channels, resamplers, strict=True
            )
        ]

    def _way_up(self) -> Sequence[_Stage]:
        befores = tuple(reversed(self._dimensions.channels))
        afters = (*befores[1:], befores[-1])
        doublings = [_Resampling(Upsampling(c, c, 4, 2)) for c in afters[:-1]]
        last = Convolution(afters[-1], afters[-1], 3, exact=True)
        resamplers: Sequence[_Resampler] = (*doublings, last)
        return [
            self._stage(2 * before, after, resampler)
            for before, after, resampler in zip(
                befores, afters, resamplers, strict=True
            )
        ]

    def _stage(
        self,
        inputs: int,
        outputs: int,
        resampling: _Resampler | None = None,
    ) -> _Stage:
        sizes = self._dimensions
        attention = [
            _AttentionBlock(outputs, sizes.heads, sizes.head_size)
            for _ in range(sizes.blocks)
        ]
        residual = _ResidualBlock(inputs, outputs, self._time_size)
        return _Stage(residual, attention, resampling)

    def __call__(
        self, parts: Sequence[Value], time: Value, mask: Value | None
    ) -> Value:
        """Estimate the velocity, (batch, frames, mels).

        Args:
            parts: Noisy mel, mean, speaker and prompt, each (batch, frames, mels).
            time: From 0 to 1, (batch).
            mask: 1 on frames of a sequence, 0 after, (batch, frames, 1).
        """
        shifts = iter(self._shifts(time))
        levels, skipped = [], []
        for stage in self.down_blocks:
            level = self._level(parts[0], mask)
            x = stage(parts, next(shifts), level)
            levels.append(level)
            skipped.append(x)
            parts = [stage.resample(x, level)]
            mask = None if mask is None else _every_other(mask)
        for stage in self.mid_blocks:
            parts = [stage(parts, next(shifts), levels[-1])]
        for stage in self.up_blocks:
            level, skip = levels.pop(), skipped.pop()
            parts = [parts[0].slice(1, 0, skip.size(1)), skip]
            parts = [stage.resample(stage(parts, next(shifts), level), level)]
        last = masked(parts[0], level.mask)
        x = self.final_block.over_frames(last, mask=level.mask)
        return masked(self.final_proj.over_frames(x), level.mask)

    def _shifts(self, time: Value) -> Sequence[Value]:
        """Compute what each stage adds to its frames, (batch, 1, channels)."""
        stages = (*self.down_blocks, *self.mid_blocks, *self.up_blocks)
        maps = [stage.shift.map for stage in stages]
        embedded = self._mish(self.time_mlp(time))
        together = product(embedded, joined("time_shifts", *maps)).unsqueeze(1)
        sizes = time.graph.indices(*(linear.outputs for linear in maps))
        return time.graph.ops(
            "Split", len(maps), together, sizes, attributes={"axis": 2}
        )

    def _level(self, x: Value, mask: Value | None) -> _Level:
        keys = None if mask is None else mask.squeeze(2).cast(np.int32)
        if x.graph.precision in ("int8", "int4"):
            return _Level(mask, keys, scene_of(x, self._dimensions.heads, mask))
        return _Level(mask, keys, None)


def _every_other(mask: Value) -> Value:
    graph = mask.graph
    start, end, axis, step = map(graph.indices, (0, np.iinfo(np.int64).max, 1, 2))
    return graph.op("Slice", mask, start, end, axis, step)


def estimator_graph(
    estimator: Estimator, mels: int, *, ragged: bool, precision: Precision = "fp32"
) -> Graph:
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
    graph = Graph("estimator", precision)
    shape = ("batch", mels, "frames")
    x = graph.input("x", np.float32, shape)
    mu = graph.input("mu", np.float32, shape)
    speaker = graph.input("speaker", np.float32, ("batch", mels))
    condition = graph.input("condition", np.float32, shape)
    time = graph.input("time", np.float32, ("batch",))
    mask = _mask(x, graph.input("lengths", np.int64, ("batch",))) if ragged else None
    spread = graph.op("Expand", speaker.unsqueeze(2), graph.op("Shape", x))
    parts = [part.transpose(0, 2, 1).lowered() for part in (x, mu, spread, condition)]
    velocity = estimator(parts, time, mask)
    graph.output("velocity", velocity.widened().transpose(0, 2, 1), np.float32, shape)
    return graph


def _mask(x: Value, lengths: Value) -> Value:
    graph = x.graph
    zero, one = (graph.constant(np.int64(n)) for n in (0, 1))
    places = graph.op("Range", zero, x.size(2).squeeze(0), one)
    inside = graph.op("Less", places.unsqueeze(0), lengths.unsqueeze(1))
    return inside.cast(graph.floating).unsqueeze(2)
