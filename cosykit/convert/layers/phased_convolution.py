"""Convolutions of four phases, with less than half of the products.

Phase p of a signal is its frames p, p + 4, p + 8 and so on. Four frames of the result,
made by k taps of k + 3 frames, take 4 k products. They are also a product of two
polynomials, read backwards: known at k + 3 points these are multiplied there, by k + 3
products (Toom and Cook, Winograd).

    frames    k + 3 of them, some phases once more, a column or two later
    points    each a sum of these, times numbers
    products  at each point a map from channels to channels, at a quarter of the rate
    result    four phases, each a sum of the products, times numbers

Channels lie one behind the other with zeros between, so that the first step is itself a
short `Conv` of all channels as one signal of four phases. An odd dilation d changes
nothing but which phases these are, since the frames t, t + d, t + 2 d and t + 3 d are
of four phases too; they have to be copied there and back.

What is between the steps takes k + 3 numbers for every four of the signal. So that it
need not leave the cache, a long signal can be convolved in pieces, each with the
columns beside it that it sees; what comes before, one number by another, is done there
too.

The more points, the fewer bits remain: of the deviation of a result the error is 3e-6
at 10 points and 2e-5 at 14, and 4e-7 in a `Conv`.

On a Zen 4 core a convolution of 128 channels and 11,136 frames takes 21 ms rather than
38 with 11 taps, 14 rather than 25 with 7, and 8 rather than 12 with 3.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from cosykit.convert.graph import Value
from cosykit.convert.module import Parameter, Weights

_PHASES = 4
# Columns of zeros behind each channel, as many as kernels of 11 taps see.
_GAP = 2
_END = np.iinfo(np.int64).max
# By their number; infinity comes on top. Of many that were tried these lose the fewest
# bits. Each stands for its negative too.
_POINTS: Mapping[int, tuple[float, ...]] = MappingProxyType(
    {
        6: (0.0, 0.65, 1.5),
        8: (0.0, 0.5, 1.0, 2.0),
        10: (0.0, 0.45, 0.8, 1.2, 2.25),
        14: (0.0, 0.33, 0.625, 0.875, 1.14, 1.61, 3.04),
    }
)


Activation = Callable[[Value], Value]
"""Maps each number by itself, and zero to zero."""


@dataclass(frozen=True, slots=True)
class Phases:
    """A signal by its phases.

    Attributes:
        value: (batch, 4, channels, columns), zeros behind the end of the signal.
        mask: 1 on frames of the signal, 0 behind its end, (4, 1, columns).
        behind: How many frames lie behind its end.
        cuts: Columns at which pieces begin, from the second on, each int64 (1).
    """

    value: Value
    mask: Value
    behind: int
    cuts: Sequence[Value]

    def __add__(self, other: "Phases") -> "Phases":
        return replace(self, value=self.value + other.value)

    def ended(self, value: Value) -> "Phases":
        """Give other numbers of the same shape, with zeros behind the end."""
        return replace(self, value=value * self.mask)


def phases(x: Value, missing: int, pieces: int = 1) -> Phases:
    """Take (batch, channels, frames) apart.

    Args:
        missing: How many frames more it would take for a multiple of four.
        pieces: In how many pieces it is convolved, each of at least `_GAP` columns.
    """
    graph, behind = x.graph, missing + _GAP * _PHASES
    padded = graph.op("Pad", x, graph.indices(0, 0, 0, 0, 0, behind))
    value = padded.reshape(0, 0, -1, _PHASES).transpose(0, 3, 1, 2)
    columns = value.size(3)
    cuts = [_share(columns, number, pieces) for number in range(1, pieces)]
    return Phases(value, _mask(value, missing), behind, cuts)


def _share(columns: Value, number: int, pieces: int) -> Value:
    return columns * columns.graph.indices(number) / columns.graph.indices(pieces)


def _mask(value: Value, missing: int) -> Value:
    graph = value.graph
    last = np.zeros((_PHASES, 1, 1 + _GAP), np.float32)
    last[: _PHASES - missing, :, 0] = 1
    others = value.size(3) - graph.indices(1 + _GAP)
    shape = graph.concat(0, graph.indices(_PHASES, 1), others)
    ones = graph.op("Expand", graph.constant(np.float32(1)), shape)
    return graph.concat(2, ones, graph.constant(last))


def whole(x: Phases) -> Value:
    """Put frames together again."""
    joined = x.value.transpose(0, 2, 3, 1).reshape(0, 0, -1)
    return joined.slice(2, 0, -x.behind)


def can_be_phased(taps: int, dilation: int) -> bool:
    """Tell whether `phased_convolution` knows such kernels."""
    return (taps == 1 or taps + _PHASES - 1 in _POINTS) and dilation % 2 == 1


def phased_convolution(
    x: Phases,
    weight: Parameter,
    bias: Parameter,
    dilation: int,
    activation: Activation,
) -> Phases:
    """Convolve what the activation makes of a signal; the length stays.

    Args:
        weight: (outputs, inputs, taps); see `can_be_phased`.
    """
    graph, taps = x.value.graph, weight.shape[2]
    if taps == 1:
        added = graph.weight(f"{bias.key}.column", bias.array[:, None])
        maps = graph.weight(f"{weight.key}.map", weight.array[..., 0])
        return x.ended(maps @ activation(x.value) + added)
    if dilation == 1:
        scheme = _Scheme(taps, first=-(taps // 2))
        *others, last = scheme.pieces(x.value, x.cuts, weight, bias, activation)
        ended = last * x.mask.slice(2, x.cuts[-1] if x.cuts else 0, _END)
        return replace(x, value=_joined([*others, ended]))
    # Phase n of the result, as it is made, begins `dilation * n` frames in; so that all
    # reach back to the first frame, some have to begin so many columns earlier.
    _, earlier = _place(dilation * (_PHASES - 1))
    scheme = _Scheme(taps, first=0, dilation=dilation)
    rows = []
    for number in range(_PHASES):
        phase, column = _place(dilation * (number - taps // 2))
        first, more = column - earlier, column + scheme.after - _GAP
        rows.append(_row(x.value, phase, first, more))
    spread = graph.concat(1, *rows)
    made = _joined(scheme.pieces(spread, x.cuts, weight, bias, activation))
    for number in range(_PHASES):
        phase, column = _place(dilation * number)
        first, more = earlier - column, _GAP - column - scheme.after
        rows[phase] = _row(made, number, first, more)
    return x.ended(graph.concat(1, *rows))


@dataclass(frozen=True, slots=True)
class _Scheme:
    """The way of kernels of so many taps.

    Attributes:
        taps: How many there are.
        first: The first of the frames that a column of the result is made of, counted
            from its own first.
        dilation: Columns from one of a phase to the next.
    """

    taps: int
    first: int
    dilation: int = 1

    @property
    def points(self) -> int:
        """How many there are; a column of the result is made of as many frames."""
        return _PHASES + self.taps - 1

    @property
    def before(self) -> int:
        """How many columns are seen before one's own."""
        return -(self.first // _PHASES) * self.dilation

    @property
    def after(self) -> int:
        """How many columns are seen after one's own."""
        return (self.first + self.points - 1) // _PHASES * self.dilation

    def pieces(
        self,
        frames: Value,
        cuts: Sequence[Value],
        weight: Parameter,
        bias: Parameter,
        activation: Activation,
    ) -> Sequence[Value]:
        """Map (batch, 4, inputs, columns), zero before the first, piece by piece.

        Of the last piece the last columns, as many as `after`, hold anything.
        """

        def convolved(piece: Value) -> Value:
            return self.products(self.at_points(activation(piece)), weight, bias)

        if not cuts:
            return [convolved(frames)]
        graph, within = frames.graph, -self.after or _END
        before, after = graph.indices(self.before), graph.indices(self.after)
        pads = graph.indices(0, 0, 0, self.before, 0, 0, 0, 0)
        seen = graph.op("Pad", frames.slice(3, 0, cuts[0] + after), pads)
        made = [convolved(seen).slice(3, self.before, within)]
        for cut, next_cut in pairwise(cuts):
            seen = frames.slice(3, cut - before, next_cut + after)
            made.append(convolved(seen).slice(3, self.before, within))
        seen = frames.slice(3, cuts[-1] - before, _END)
        return [*made, convolved(seen).slice(3, self.before, _END)]

    def at_points(self, frames: Value) -> Value:
        """Map (batch, 4, inputs, columns) to (batch, points, inputs * columns)."""
        lowest = self.first // _PHASES
        width = (self.before + self.after) // self.dilation + 1
        kernel = np.zeros((self.points, _PHASES, width), np.float32)
        for number, column in enumerate(np.linalg.inv(self._powers(self.points))):
            phase, place = _place(self.first + number)
            kernel[:, phase, place - lowest] = column
        return frames.graph.op(
            "Conv",
            frames.reshape(0, _PHASES, -1),
            frames.graph.constant(kernel),
            attributes={
                "kernel_shape": [width],
                "dilations": [self.dilation],
                "pads": [self.before, self.after],
            },
        )

    def products(self, at_points: Value, weight: Parameter, bias: Parameter) -> Value:
        """Map (batch, points, inputs * columns) to (batch, 4, outputs, columns)."""
        graph, (outputs, inputs, _) = at_points.graph, weight.shape
        name = f"{self.points}_points"
        products = graph.op(
            "Conv",
            at_points.reshape(0, self.points * inputs, -1),
            graph.weight(f"{weight.key}.{name}", lambda: self._maps(weight.array)),
            graph.weight(f"{bias.key}.{name}", lambda: self._bias(bias.array)),
            attributes={"group": self.points, "kernel_shape": [1]},
        )
        back = graph.constant(self._powers(_PHASES).T.astype(np.float32))
        made = back @ products.reshape(0, self.points, -1)
        return made.reshape(0, _PHASES, outputs, -1)

    def _maps(self, array: Weights) -> Weights:
        """Give the map at every point, (points * outputs, inputs, 1)."""
        kernel = array.astype(np.float64)
        maps: NDArray[np.float64] = np.einsum(
            "pt,oit->poi", self._powers(self.taps), kernel
        )
        return maps.reshape(-1, array.shape[1], 1).astype(np.float32)

    def _bias(self, array: Weights) -> Weights:
        """Give what adds up to it in every phase, (points * outputs)."""
        shares, *_ = np.linalg.lstsq(self._powers(_PHASES).T, np.ones(_PHASES))
        return np.outer(shares, array).reshape(-1).astype(np.float32)

    def _powers(self, count: int) -> NDArray[np.float64]:
        """Give the powers of each point from 0, (points, count)."""
        points = sorted({s * p for p in _POINTS[self.points] for s in (1.0, -1.0)})
        finite = np.vander(points, count, increasing=True)
        return np.concatenate([finite, np.eye(count)[-1:]])


def _place(frame: int) -> tuple[int, int]:
    """Give the phase and the column of a frame."""
    column, phase = divmod(frame, _PHASES)
    return phase, column


def _row(x: Value, phase: int, first: int, more: int) -> Value:
    """Give columns of a phase, (batch, 1, channels, columns), and zeros at its ends.

    Args:
        first: The first of them, from the first that there is.
        more: The last of them, from the last that there is.
    """
    pads = (0, -phase, 0, -first, 0, phase - _PHASES + 1, 0, more)
    return x.graph.op("Pad", x, x.graph.indices(*pads))


def _joined(pieces: Sequence[Value]) -> Value:
    if len(pieces) == 1:
        return pieces[0]
    return pieces[0].graph.concat(3, *pieces)
