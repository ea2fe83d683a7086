"""Stacks of relative attention and feed-forward parts.

Upstream calls them conformers and transformers. The conformers of CosyVoice have
neither convolutions nor macaron parts, so the two differ in names and activations only.

Source: cosyvoice/transformer/encoder.py ConformerEncoder, TransformerEncoder;
cosyvoice/transformer/subsampling.py LinearNoSubsampling, LegacyLinearNoSubsampling;
cosyvoice/transformer/positionwise_feed_forward.py PositionwiseFeedForward
"""

from collections.abc import Sequence

from cosykit.convert.dimensions import EncoderDimensions
from cosykit.convert.graph import Value
from cosykit.convert.layers.basic import (
    Layer,
    LayerNorm,
    Linear,
    Relu,
    Sequential,
    Silu,
)
from cosykit.convert.layers.relative_attention import (
    Cache,
    Past,
    Reach,
    RelativeAttention,
    distance_blocks,
    encoded_distances,
    reach_of,
)
from cosykit.convert.module import Module, ModuleList

_LAYER_EPSILON = 1e-12


class _Entrance(Layer):
    """Map to the size of the stack."""

    def __init__(self, dimensions: EncoderDimensions, *activation: Layer) -> None:
        self.out = Sequential(
            Linear(dimensions.inputs, dimensions.size),
            LayerNorm(dimensions.size),
            *activation,
        )
        self._scale = float(dimensions.size**0.5)

    def __call__(self, x: Value) -> Value:
        """Map (batch, frames, inputs) to (batch, frames, size)."""
        return self.out(x) * self._scale


class _FeedForward(Layer):
    def __init__(self, dimensions: EncoderDimensions, activation: Layer) -> None:
        self.w_1 = Linear(dimensions.size, dimensions.hidden)
        self.w_2 = Linear(dimensions.hidden, dimensions.size)
        self._activation = activation

    def __call__(self, x: Value) -> Value:
        return self.w_2(self._activation(self.w_1(x)))


class _ConformerLayer(Module):
    def __init__(self, dimensions: EncoderDimensions) -> None:
        self.self_attn = RelativeAttention(dimensions.size, dimensions.heads)
        self.feed_forward = _FeedForward(dimensions, Silu())
        self.norm_ff = LayerNorm(dimensions.size, _LAYER_EPSILON)
        self.norm_mha = LayerNorm(dimensions.size, _LAYER_EPSILON)

    def __call__(self, x: Value, distances: Value) -> Value:
        x = x + self.self_attn.over_all(self.norm_mha(x), distances)
        return x + self.feed_forward(self.norm_ff(x))

    def after(self, x: Value, distances: Value, past: Past) -> tuple[Value, Past]:
        attended, past = self.self_attn.after(self.norm_mha(x), distances, past)
        x = x + attended
        return x + self.feed_forward(self.norm_ff(x)), past


class ConformerEncoder(Module):
    """Encodes a whole sequence, or one that grows."""

    def __init__(self, dimensions: EncoderDimensions) -> None:
        self.embed = _Entrance(dimensions)
        self.after_norm = LayerNorm(dimensions.size)
        self.encoders = ModuleList(
            [_ConformerLayer(dimensions) for _ in range(dimensions.layers)]
        )
        self._size = dimensions.size

    def __call__(self, x: Value) -> Value:
        """Map (1, frames, inputs) to (1, frames, size), each frame seeing all."""
        x = self.embed(x)
        distances = encoded_distances(x.size(1), self._size, causal=False)
        for layer in self.encoders:
            x = layer(x, distances)
        return self.after_norm(x)

    def after(self, x: Value, pasts: Sequence[Past]) -> tuple[Value, Sequence[Past]]:
        """Go on with a sequence whose frames see themselves and earlier ones.

        Args:
            x: The next frames, (1, frames, inputs).
            pasts: A past a layer.

        Returns:
            (1, frames, size), and the pasts of what comes next.
        """
        so_far = pasts[0].keys.size(2) + x.size(1)
        distances = encoded_distances(so_far, self._size, causal=True)
        x, grown = self.embed(x), []
        for layer, past in zip(self.encoders, pasts, strict=True):
            x, past = layer.after(x, distances, past)
            grown.append(past)
        return self.after_norm(x), grown


class _TransformerLayer(Module):
    def __init__(self, dimensions: EncoderDimensions) -> None:
        self.self_attn = RelativeAttention(dimensions.size, dimensions.heads)
        self.feed_forward = _FeedForward(dimensions, Relu())
        self.norm1 = LayerNorm(dimensions.size, _LAYER_EPSILON)
        self.norm2 = LayerNorm(dimensions.size, _LAYER_EPSILON)

    def __call__(self, x: Value, cache: Cache, reach: Reach) -> tuple[Value, Cache]:
        attended, cache = self.self_attn.with_cache(self.norm1(x), cache, reach)
        x = x + attended
        return x + self.feed_forward(self.norm2(x)), cache


class TransformerDecoder(Module):
    """Continues sequences, each from what the cache holds of it."""

    def __init__(self, dimensions: EncoderDimensions) -> None:
        self.embed = _Entrance(dimensions, Relu())
        self.after_norm = LayerNorm(dimensions.size)
        self.encoders = ModuleList(
            [_TransformerLayer(dimensions) for _ in range(dimensions.layers)]
        )
        self._size, self._heads = dimensions.size, dimensions.heads

    def __call__(
        self, x: Value, lengths: Value, caches: Sequence[Cache]
    ) -> tuple[Value, Sequence[Cache]]:
        """Add frames to the sequences.

        Args:
            x: New frames, (batch, steps, inputs): one sequence, or one step of several.
            lengths: Frames of each sequence in the cache, int64 (batch).
            caches: A cache a layer.

        Returns:
            The state of each sequence's last frame, (batch, 1, size), and the caches.
        """
        reach = reach_of(x, lengths, self._heads)
        x, grown = self.embed(x), []
        for layer, cache in zip(self.encoders, caches, strict=True):
            x, cache = layer(x, cache, reach)
            grown.append(cache)
        return self.after_norm(x.slice(1, -1, x.size(1))), grown

    def distances(self, count: Value) -> Sequence[Value]:
        """Give the table of distances of each layer, as its `Cache` has it.

        Args:
            count: Blocks of the tables, int64 ().
        """
        encoded = distance_blocks(count, self._size)
        return [layer.self_attn.map_distances(encoded) for layer in self.encoders]
