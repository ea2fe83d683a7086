"""The vocoder of the first generation: from a mel and its source to samples.

At fp32 the residual blocks, 97 % of all products, work on four phases apart, with 39 %
of the products. On a Zen 4 processor 4 s of speech (344 frames) take one thread 1.40 s
rather than the 2.3 s of `Conv`, and two threads, on a half each, 0.71 s.

At int8 they multiply integers, and work on (batch, frames, channels); with the other
convolutions as well the error would be 4 dB greater. Two threads take 0.62 s, one
1.02 s.

What bounds it: at fp32 the products, 55 % of the time, at 43 billion a second on a
core, since their factors come from beyond its cache; then the way to the points and
back, 18 %, and the sine of Snake, 11 %. At int8 the products, some 43 %, and the sine,
24 %, which ONNX Runtime computes in one thread.

With random weights and a mel of speech, int8 is 1.3 or 2.2 dB from fp32 in log-spectral
distance, as the weights are drawn; the recorded mel of the tiny model, 0.3 dB. So much
depends on weights and mel that fp32 is the default. Nearly all of the distance comes
from 8 bits of activations: in 16 bits, as two products, 1.3 dB become 0.2, and 0.62 s
become 1.00 s, more than fp32 takes.

Tried at fp32, and not worth it: ONNX Runtime's blocked layout (slower); channels last
(as fast); mels so short that all fits into the cache (6 % less, but their contexts cost
more); a polynomial for the sine (ten passes over memory, as slow); what Snake
multiplies by, moved into the convolutions (1.3 % less).

Source: cosyvoice/hifigan/generator.py HiFTGenerator
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from math import prod
from operator import mul

import numpy as np
from numpy.typing import NDArray

from cosykit.convert.dimensions import VocoderDimensions
from cosykit.convert.graph import Graph, Value
from cosykit.convert.layers.basic import LeakyRelu
from cosykit.convert.layers.convolution import Convolution, Upsampling
from cosykit.convert.layers.fourier import inverse_transform, short_transform
from cosykit.convert.layers.phased_convolution import can_be_phased, phases, whole
from cosykit.convert.layers.snake import ResidualBlock, works_over_frames
from cosykit.convert.models.source import PitchPredictor, Source
from cosykit.convert.module import Module, ModuleList
from cosykit.convert.weight_norm import fold_weight_norm
from cosykit.spec import Precision

Tensor = NDArray[np.generic]

_WIDE_KERNEL = 7
_LAST_SLOPE = 0.01
_LOUDEST = 100.0
# Frames to each side that the last level and the transform after it see; 1.97 of them.
_LAST_REACH = 2
# At 172 frames four pieces of the last level take 5 % less than one, eight 7 %; but at
# 50 frames 1 and 5 % more. The other levels fit into the cache as they are.
_LAST_PIECES = 4


def vocoder_weights(checkpoint: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """Give the weights of a `hift.pt` the names of `Vocoder`.

    Checkpoints of adversarial training carry the prefix `generator.`.
    """
    renamed = {key.replace("generator.", ""): t for key, t in checkpoint.items()}
    return fold_weight_norm(renamed)


@dataclass(frozen=True, slots=True)
class Context:
    """How many frames at the ends of a mel are there for others to see them.

    The last level sees `_LAST_REACH` of them, all levels together some 14. Each is an
    int64 of shape (1,).
    """

    before: Value
    after: Value

    def without_far(self, x: Value, columns: int) -> Value:
        """Leave out what the last level does not see.

        Args:
            columns: Of each frame; one more at the end is kept.
        """
        return _within(
            x,
            columns,
            self.before - self._near(self.before),
            self.after - self._near(self.after),
        )

    def without_near(self, x: Value, columns: int) -> Value:
        """Leave out the rest of the context."""
        return _within(x, columns, self._near(self.before), self._near(self.after))

    def _near(self, frames: Value) -> Value:
        return frames.graph.op("Min", frames, frames.graph.indices(_LAST_REACH))


def _within(x: Value, columns: int, before: Value, after: Value) -> Value:
    each = x.graph.indices(columns)
    return x.slice(2, before * each, x.size(2) - after * each)


class Vocoder(Module):
    """The weights of a `hift.pt`, named by `vocoder_weights`."""

    def __init__(self, dimensions: VocoderDimensions) -> None:
        self.dimensions = dimensions
        widths = [
            dimensions.channels >> level for level in range(len(_ups(dimensions)))
        ]
        spectrum = dimensions.fft + 2
        self.m_source = Source(dimensions)
        self.conv_pre = Convolution(dimensions.mels, widths[0], _WIDE_KERNEL)
        self.ups = ModuleList(
            [
                Upsampling(width, width // 2, kernel, rate)
                for width, (rate, kernel) in zip(widths, _ups(dimensions), strict=True)
            ]
        )
        self.source_downs = ModuleList(
            [
                _source_down(spectrum, width // 2, rate)
                for width, rate in zip(widths, _source_rates(dimensions), strict=True)
            ]
        )
        self.source_resblocks = ModuleList(
            [
                ResidualBlock(width // 2, kernel, dilations)
                for width, kernel, dilations in zip(
                    widths,
                    dimensions.source_kernels,
                    dimensions.source_dilations,
                    strict=True,
                )
            ]
        )
        self.resblocks = ModuleList(
            [
                ResidualBlock(width // 2, kernel, dilations)
                for width in widths
                for kernel, dilations in zip(
                    dimensions.block_kernels, dimensions.block_dilations, strict=True
                )
            ]
        )
        self.conv_post = Convolution(widths[-1] // 2, spectrum, _WIDE_KERNEL)
        self.f0_predictor = PitchPredictor(dimensions.mels, dimensions.pitch_channels)

    def decode(self, mel: Value, source: Value, context: Context) -> Value:
        """Map (batch, mels, frames) and (batch, 1, samples) to (batch, 1, samples).

        The samples are those of the frames that are no context.
        """
        sizes = self.dimensions
        leaky = LeakyRelu(sizes.slope)
        spectrum = short_transform(source, sizes.fft, sizes.fft_hop).lowered()
        x = self.conv_pre(mel.lowered())
        for level, up in enumerate(self.ups):
            if level == len(self.ups) - 1:
                columns = prod(sizes.rates)
                x = context.without_far(x, columns // sizes.rates[-1])
                spectrum = context.without_far(spectrum, columns)
            x = up(leaky(x))
            if level == len(self.ups) - 1:
                # One more column, to have as many as the source's spectrum.
                x = x.graph.concat(2, x.slice(2, 1, 2), x)
            x = self._blocks(level, x, self.source_downs[level](spectrum))
        x = self.conv_post(LeakyRelu(_LAST_SLOPE)(x)).widened()
        return context.without_near(self._samples(x), sizes.samples_per_frame)

    def _blocks(self, level: int, x: Value, source: Value) -> Value:
        """Mix the source in, and refine the sum."""
        if self._in_phases(x.graph):
            return self._mean_of_phases(level, x, source)
        if not works_over_frames(x.graph):
            return self._mean_of_blocks(level, x + self.source_resblocks[level](source))
        x, source = x.transpose(0, 2, 1), source.transpose(0, 2, 1)
        mean = self._mean_of_blocks(level, x + self.source_resblocks[level](source))
        return mean.transpose(0, 2, 1)

    def _mean_of_blocks(self, level: int, x: Value) -> Value:
        count = len(self.dimensions.block_kernels)
        total = self.resblocks[level * count](x)
        for number in range(level * count + 1, (level + 1) * count):
            total = total + self.resblocks[number](x)
        return total * (1 / count)

    def _mean_of_phases(self, level: int, x: Value, source: Value) -> Value:
        # The last level has one frame more than a multiple of four; the others, none.
        is_last = level == len(self.ups) - 1
        missing, pieces = (3, _LAST_PIECES) if is_last else (0, 1)
        mixed = self.source_resblocks[level].of_phases(phases(source, missing, pieces))
        mixed = mixed + phases(x, missing, pieces)
        count = len(self.dimensions.block_kernels)
        total = self.resblocks[level * count].of_phases(mixed)
        for number in range(level * count + 1, (level + 1) * count):
            total = total + self.resblocks[number].of_phases(mixed)
        return whole(total) * (1 / count)

    def _in_phases(self, graph: Graph) -> bool:
        """Tell whether residual blocks work on four phases apart."""
        sizes = self.dimensions
        blocks = chain(
            zip(sizes.block_kernels, sizes.block_dilations, strict=True),
            zip(sizes.source_kernels, sizes.source_dilations, strict=True),
        )
        can_be = sizes.rates[0] % 4 == 0 and all(
            can_be_phased(kernel, dilation)
            for kernel, dilations in blocks
            for dilation in dilations
        )
        return graph.precision == "fp32" and can_be

    def _samples(self, x: Value) -> Value:
        """Turn logarithms of magnitudes and sines of phases, float32, into samples."""
        sizes, graph = self.dimensions, x.graph
        bins = sizes.fft // 2 + 1
        loud = graph.op("Exp", x.slice(1, 0, bins))
        magnitude = graph.op("Min", loud, graph.constant(np.float32(_LOUDEST)))
        phase = graph.op("Sin", x.slice(1, bins, 2 * bins))
        real, imaginary = (magnitude * graph.op(kind, phase) for kind in ("Cos", "Sin"))
        spectrum = graph.concat(1, real, imaginary)
        signal = inverse_transform(spectrum, sizes.fft, sizes.fft_hop)
        low, high = (graph.constant(np.float32(sign * sizes.limit)) for sign in (-1, 1))
        return graph.op("Clip", signal, low, high)


def _ups(dimensions: VocoderDimensions) -> Sequence[tuple[int, int]]:
    """Pair the rate and the kernel of each upsampling."""
    return list(zip(dimensions.rates, dimensions.kernels, strict=True))


def _source_rates(dimensions: VocoderDimensions) -> Sequence[int]:
    """Give how much slower than the source's spectrum each level is."""
    rising = accumulate(reversed(dimensions.rates[1:]), mul, initial=1)
    return list(reversed(list(rising)))


def _source_down(spectrum: int, channels: int, rate: int) -> Convolution:
    if rate == 1:
        return Convolution(spectrum, channels, 1)
    return Convolution(spectrum, channels, 2 * rate, stride=rate, padding=rate // 2)


def vocoder_graph(vocoder: Vocoder, precision: Precision = "fp32") -> Graph:
    """Build vocoder.onnx.

    Inputs:
        mel: float32 (batch, mels, frames)
        source: float32 (batch, 1, samples)
        before: int64 (1), how many frames at the start are only to be seen
        after: int64 (1), how many at the end
    Outputs:
        samples: float32 (batch, samples), of the frames between
    """
    graph = Graph("vocoder", precision)
    mel = graph.input("mel", np.float32, ("batch", vocoder.dimensions.mels, "frames"))
    source = graph.input("source", np.float32, ("batch", 1, "all samples"))
    context = Context(
        *(graph.input(end, np.int64, (1,)) for end in ("before", "after"))
    )
    samples = vocoder.decode(mel, source, context).squeeze(1)
    graph.output("samples", samples, np.float32, ("batch", "samples"))
    return graph
