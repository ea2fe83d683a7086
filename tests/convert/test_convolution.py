from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.graph import Graph, Value
from cosykit.convert.layers.convolution import Convolution, Upsampling
from cosykit.convert.parity import signal_to_error_db
from cosykit.spec import Precision
from tests.convert.conftest import Run

Array = NDArray[np.float32]

# Channels of the layers below; frames of their inputs.
CHANNELS, FRAMES = 24, 37


def gaussian(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def loaded(layer: Convolution | Upsampling) -> Convolution | Upsampling:
    for seed, (key, parameter) in enumerate(layer.parameters()):
        parameter.load(key, gaussian(seed, *parameter.shape))
    return layer


def found(
    opened: Callable[[Graph], Run],
    layer: Convolution | Upsampling,
    precision: Precision,
    parts: Sequence[Array],
) -> Array:
    """Apply a layer to parts (batch, frames, channels) in their layout."""
    graph = Graph("convolution", precision)
    shape = ("batch", "frames", parts[0].shape[2])
    names = [f"part{number}" for number in range(len(parts))]
    values: list[Value] = [graph.input(name, np.float32, shape) for name in names]
    graph.output("y", layer.over_frames(*values), np.float32, ("b", "f", "c"))
    return opened(graph)(dict(zip(names, parts, strict=True)))["y"]


@pytest.mark.parametrize(
    "layer",
    [
        Convolution(CHANNELS, 16, 3),
        Convolution(CHANNELS, 16, 1),
        Convolution(CHANNELS, 16, 3, stride=2),
        Upsampling(CHANNELS, 16, 4, 2),
        Upsampling(CHANNELS, 16, 16, 8),
        Upsampling(CHANNELS, 16, 9, 3),
    ],
    ids=lambda layer: f"{type(layer).__name__} {vars(layer)['weight'].shape}",
)
def test_convolution_of_integers_is_near_that_of_floats(
    opened: Callable[[Graph], Run], layer: Convolution | Upsampling
) -> None:
    parts = [gaussian(7, 2, FRAMES, CHANNELS)]
    exact, integers = (
        found(opened, loaded(layer), level, parts) for level in ("fp32", "int8")
    )
    assert signal_to_error_db(integers, exact) > 35


def test_wide_part_does_not_coarsen_another(opened: Callable[[Graph], Run]) -> None:
    layer = Convolution(CHANNELS, 16, 3)
    loaded(layer)
    half = CHANNELS // 2
    narrow, wide = gaussian(7, 1, FRAMES, half), 100 * gaussian(8, 1, FRAMES, half)
    # What the wide part adds is taken off again: what remains is due to the narrow.
    none = np.zeros_like(narrow)
    both, rest = (found(opened, layer, "int8", [part, wide]) for part in (narrow, none))
    exact = found(opened, layer, "fp32", [narrow, none]) - layer.bias.array
    assert signal_to_error_db(both - rest, exact) > 35


def test_exact_convolution_stays_as_it_is_among_integers(
    opened: Callable[[Graph], Run],
) -> None:
    parts = [gaussian(7, 2, FRAMES, half) for half in (CHANNELS // 2,) * 2]
    layer = loaded(Convolution(CHANNELS, 16, 3, exact=True))
    exact, integers = (found(opened, layer, p, parts) for p in ("fp32", "int8"))
    np.testing.assert_allclose(integers, exact, atol=1e-5)
