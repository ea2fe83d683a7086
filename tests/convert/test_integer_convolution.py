from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.graph import Graph
from cosykit.convert.layers.convolution import Convolution
from cosykit.convert.layers.integer_convolution import integer_convolution
from tests.convert.conftest import Run

Array = NDArray[np.float32]
CHANNELS, FRAMES = 24, 50


def loaded(outputs: int, taps: int, stride: int, dilation: int) -> Convolution:
    convolution = Convolution(CHANNELS, outputs, taps, stride=stride, dilation=dilation)
    generator = np.random.default_rng(taps)
    for key, parameter in convolution.parameters():
        weight = generator.uniform(-1, 1, parameter.shape)
        parameter.load(key, weight.astype(np.float32))
    return convolution


def both_ways(convolution: Convolution, stride: int, dilation: int) -> Graph:
    graph = Graph("both")
    x = graph.input("x", np.float32, ("batch", "frames", CHANNELS))
    exact = convolution(x.transpose(0, 2, 1)).transpose(0, 2, 1)
    integer = integer_convolution(
        x, convolution.weight, convolution.bias, stride=stride, dilation=dilation
    )
    shape = ("batch", "outputs", convolution.weight.shape[0])
    graph.output("exact", exact, np.float32, shape)
    graph.output("integer", integer, np.float32, shape)
    return graph


def signal_to_error_db(exact: Array, found: Array) -> float:
    error = ((found - exact) ** 2).mean()
    return float(10 * np.log10((exact**2).mean() / error))


@pytest.mark.parametrize(
    ("taps", "stride", "dilation"),
    [(1, 1, 1), (1, 2, 1), (3, 1, 1), (7, 1, 3), (11, 1, 5), (3, 2, 1)],
)
def test_result_is_the_float_convolution_to_8_bits(
    opened: Callable[[Graph], Run], taps: int, stride: int, dilation: int
) -> None:
    graph = both_ways(loaded(40, taps, stride, dilation), stride, dilation)
    x = np.random.default_rng(1).standard_normal((2, FRAMES, CHANNELS))
    found = opened(graph)({"x": x.astype(np.float32)})
    assert found["exact"].shape == found["integer"].shape
    assert signal_to_error_db(found["exact"], found["integer"]) > 35


def test_whole_numbers_are_convolved_exactly(opened: Callable[[Graph], Run]) -> None:
    convolution = loaded(4, 3, 1, 1)
    generator = np.random.default_rng(2)
    weight = generator.integers(-127, 128, convolution.weight.shape)
    weight[:, 0, 0] = 127
    convolution.weight.load("weight", weight.astype(np.float32))
    x = generator.integers(0, 256, (1, FRAMES, CHANNELS)).astype(np.float32)
    x[0, 0, :2] = 0, 255
    found = opened(both_ways(convolution, 1, 1))({"x": x})
    np.testing.assert_allclose(found["integer"], found["exact"], rtol=1e-5)
