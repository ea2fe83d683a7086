"""Convolutions of even and odd frames apart, which spare a fifth of the products.

Of a signal let e be the even frames and o the odd ones; of a kernel let E be the taps
an even number of frames from the middle, and O the others. Even frames of the result
are E e + O o', and odd ones E o + O e, where o' are the odd frames before. That takes
four convolutions at half the rate. These are three:

    even    (E + O) e + O (o' - e)
    odd     (E + O) e + E (o - e)

A kernel of 11 takes 6 + 6 + 5 taps of each pair of frames rather than 22. It pays where
the products cost far more than the sums around them, and the frames stay apart from
layer to layer. Tensors are (batch, channels, frames).
"""

from dataclasses import dataclass

import numpy as np

from cosykit.convert.graph import Value
from cosykit.convert.module import Parameter, Weights

_END = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Halves:
    """A signal by its even and odd frames.

    Attributes:
        even: Frames 0, 2, 4 and so on.
        odd: Frames 1, 3, 5 and so on.
        excess: How many even frames there are more than odd ones, 0 or 1.
    """

    even: Value
    odd: Value
    excess: int

    def __add__(self, other: "Halves") -> "Halves":
        return Halves(self.even + other.even, self.odd + other.odd, self.excess)


def halves(x: Value, excess: int) -> Halves:
    """Take frames apart; `excess` is 1 if their number is odd, 0 if it is even."""
    graph = x.graph
    end, axis, step = map(graph.indices, (_END, 2, 2))
    even, odd = (
        graph.op("Slice", x, graph.indices(first), end, axis, step) for first in (0, 1)
    )
    return Halves(even, odd, excess)


def whole(x: Halves, channels: int) -> Value:
    """Put frames together again."""
    pair = x.even.graph.concat(2, x.even, _padded(x.odd, 0, x.excess))
    turned = pair.reshape(0, channels, 2, -1).transpose(0, 1, 3, 2)
    return _shortened(turned.reshape(0, channels, -1), x.excess)


def halved_convolution(
    x: Halves, weight: Parameter, bias: Parameter, dilation: int
) -> Halves:
    """Convolve; the length stays.

    Args:
        weight: (outputs, inputs, taps), an odd number of taps.
        dilation: An odd number.
    """
    taps = _Taps.of(weight.array)
    # So that taps of E and O lie on each other, odd frames count from the one that is
    # `dilation` frames after an even one: `late` places after its neighbour.
    late = (dilation - 1) // 2
    ahead, missing = dilation - late, late + x.excess
    earlier = _padded(x.odd, ahead, 0) - _padded(x.even, 0, ahead - x.excess)
    later = _padded(x.odd, 0, missing) - _padded(x.even, late, 0)

    def convolved(
        x: Value, part: str, kernel: Weights, bias: Value | None, pads: tuple[int, int]
    ) -> Value:
        begin, end = pads
        return x.graph.op(
            "Conv",
            _shortened(x, max(-end, 0)),
            x.graph.weight(f"{weight.key}.{part}", kernel),
            bias,
            attributes={
                "kernel_shape": [kernel.shape[2]],
                "dilations": [dilation],
                "pads": [begin, max(end, 0)],
            },
        )

    near, first, last = (dilation * n for n in (taps.near, taps.first, taps.last))
    low, high = min(-near, first), max(near, last)
    added = x.even.graph.weight(bias.key, bias.array)
    shared = convolved(x.even, "both", taps.both, added, (late - low, high))
    pads = -first, last - ahead + x.excess
    even = convolved(earlier, "odd", taps.odd, None, pads)
    odd = convolved(later, "even", taps.even, None, (near, near - missing))
    return Halves(
        even + (shared.slice(2, late, _END) if late else shared),
        odd + _shortened(shared, missing),
        x.excess,
    )


@dataclass(frozen=True, slots=True)
class _Taps:
    """A kernel apart, with the places of the taps in dilated frames of a half.

    Attributes:
        even: E, from -near to near.
        odd: O, from first to last.
        both: Their sum, over all these places.
    """

    even: Weights
    odd: Weights
    both: Weights
    near: int
    first: int
    last: int

    @classmethod
    def of(cls, kernel: Weights) -> "_Taps":
        middle = kernel.shape[2] // 2
        near, first, last = middle // 2, -((middle - 1) // 2), (middle + 1) // 2
        even, odd = (
            np.ascontiguousarray(kernel[..., (middle + n) % 2 :: 2]) for n in (0, 1)
        )
        lowest = min(-near, first)
        both = np.zeros((*kernel.shape[:2], max(near, last) - lowest + 1), np.float32)
        both[..., -near - lowest : near + 1 - lowest] += even
        both[..., first - lowest : last + 1 - lowest] += odd
        return cls(even, odd, both, near, first, last)


def _padded(x: Value, before: int, after: int) -> Value:
    if not before and not after:
        return x
    return x.graph.op("Pad", x, x.graph.indices(0, 0, before, 0, 0, after))


def _shortened(x: Value, frames: int) -> Value:
    """Leave out frames at the end."""
    return x.slice(2, 0, -frames) if frames else x
