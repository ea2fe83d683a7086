"""The estimator of the first generation: where a noisy mel should flow.

A U-Net: down through the levels, the first of which halves the time, through the
middle, and up again. Every stage is a residual block and blocks of attention. Inside,
tensors are (batch, frames, channels).

Source: cosyvoice/flow/decoder.py ConditionalDecoder;
matcha/models/components/decoder.py TimestepEmbedding, SinusoidalPosEmb
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cosykit.convert.dimensions import EstimatorDimensions
from cosykit.convert.graph import Graph, Value
from cosykit.convert.layers.basic import Linear, Mish, Silu
from cosykit.convert.layers.convolution import (
    Convolution,
    NormalisedConvolution,
    Upsampling,
    masked,
)
from cosykit.convert.layers.product import joined, product
from cosykit.convert.layers.stage import (
    DeeperConvolution,
    Resampler,
    Stage,
    level_of,
)
from cosykit.convert.module import Module, ModuleList
from cosykit.spec import Precision

# What the estimator sees of a frame: noisy mel, mean, speaker, prompt's mel.
_PARTS = 4
_TIME_SCALE = np.float32(1000)
_TIME_WIDTH = 4


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
        # No later layer evens out the errors of the last three convolutions: integers
        # would take 1.2 dB there, and save 2 ms of 146.
        self.final_block = NormalisedConvolution(highest, highest, exact=True)
        self.final_proj = Convolution(highest, dimensions.mels, 1, exact=True)
        self._mish = Mish()

    def _way_down(self, inputs: int) -> Sequence[Stage]:
        channels = self._dimensions.channels
        halvings = [
            DeeperConvolution(Convolution(c, c, 3, stride=2)) for c in channels[:-1]
        ]
        last = Convolution(channels[-1], channels[-1], 3)
        resamplers: Sequence[Resampler] = (*halvings, last)
        return [
            self._stage(before, after, resampler)
            for before, after, resampler in zip(
                (inputs, *channels[:-1]), channels, resamplers, strict=True
            )
        ]

    def _way_up(self) -> Sequence[Stage]:
        befores = tuple(reversed(self._dimensions.channels))
        afters = (*befores[1:], befores[-1])
        doublings = [DeeperConvolution(Upsampling(c, c, 4, 2)) for c in afters[:-1]]
        last = Convolution(afters[-1], afters[-1], 3, exact=True)
        resamplers: Sequence[Resampler] = (*doublings, last)
        return [
            self._stage(2 * before, after, resampler)
            for before, after, resampler in zip(
                befores, afters, resamplers, strict=True
            )
        ]

    def _stage(
        self, inputs: int, outputs: int, resampler: Resampler | None = None
    ) -> Stage:
        sizes = self._dimensions
        return Stage(inputs, outputs, sizes, self._time_size, resampler)

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
            level = level_of(mask)
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
