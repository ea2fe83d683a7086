"""A stage of the estimator: a residual block, then blocks of attention.

Tensors are (batch, frames, channels).

Source: matcha/models/components/decoder.py ResnetBlock1D;
matcha/models/components/transformer.py BasicTransformerBlock
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cosykit.convert.dimensions import EstimatorDimensions
from cosykit.convert.graph import CONTRIB, Value
from cosykit.convert.layers.basic import (
    Gelu,
    Layer,
    LayerNorm,
    Linear,
    Mish,
    Sequential,
)
from cosykit.convert.layers.convolution import (
    Convolution,
    NormalisedConvolution,
    Upsampling,
    masked,
)
from cosykit.convert.layers.integer_attention import hiding_of, integer_attention
from cosykit.convert.module import Module, ModuleList

_HIDDEN_WIDTH = 4
_HIDES = -1e10


@dataclass(frozen=True, slots=True)
class Level:
    """What all stages of one frame rate share.

    Attributes:
        mask: 1 on frames of a sequence, 0 after, (batch, frames, 1); None where nothing
            is padded.
        keys: The same for attention of floats, int32 (batch, frames).
        hiding: The same for attention of integers, (batch, 1, 1, frames).
    """

    mask: Value | None
    keys: Value | None = None
    hiding: Value | None = None


def level_of(mask: Value | None) -> Level:
    """Prepare the stages for frames with a mask."""
    if mask is None:
        return Level(mask)
    if mask.graph.is_quantized:
        return Level(mask, hiding=hiding_of(mask))
    return Level(mask, keys=mask.squeeze(2).cast(np.int32))


class _Attention(Module):
    def __init__(self, channels: int, heads: int, head_size: int) -> None:
        inner = heads * head_size
        self.to_q = Linear(channels, inner, bias=False)
        self.to_k = Linear(channels, inner, bias=False)
        self.to_v = Linear(channels, inner, bias=False)
        self.to_out = Sequential(Linear(inner, channels))
        self._heads, self._head_size = heads, head_size

    def __call__(self, x: Value, level: Level) -> Value:
        q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
        if x.graph.is_quantized:
            attended = integer_attention(
                q, k, v, self._heads, self._head_size, level.hiding
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

    def __call__(self, x: Value, level: Level) -> Value:
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


class DeeperConvolution(Module):
    """A convolution that the checkpoint keeps one name deeper."""

    def __init__(self, conv: Convolution | Upsampling) -> None:
        self.conv = conv

    def over_frames(self, x: Value) -> Value:
        """Apply it."""
        return self.conv.over_frames(x)


Resampler = Convolution | DeeperConvolution


class Stage(ModuleList[Module]):
    """A residual block, blocks of attention, and perhaps a change of rate.

    Args:
        sizes: Of the whole estimator.
        time_size: Channels of an embedded time.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        sizes: EstimatorDimensions,
        time_size: int,
        resampler: Resampler | None = None,
    ) -> None:
        self._residual = _ResidualBlock(inputs, outputs, time_size)
        self._attention = ModuleList(
            [
                _AttentionBlock(outputs, sizes.heads, sizes.head_size)
                for _ in range(sizes.blocks)
            ]
        )
        self._resampler = resampler
        parts: Sequence[Module] = (self._residual, self._attention)
        super().__init__(parts if resampler is None else (*parts, resampler))

    @property
    def shift(self) -> Linear:
        """The map from a time, after Mish, to what it adds to every frame."""
        return self._residual.shift

    def __call__(self, parts: Sequence[Value], shift: Value, level: Level) -> Value:
        """Map (batch, frames, inputs), in parts, to (batch, frames, outputs).

        Args:
            shift: What `self.shift` gives for the time, (batch, 1, outputs).
        """
        x = self._residual(parts, shift, level.mask)
        for block in self._attention:
            x = block(x, level)
        return x

    def resample(self, x: Value, level: Level) -> Value:
        """Go to the rate of the next stage."""
        assert self._resampler is not None
        return self._resampler.over_frames(masked(x, level.mask))
