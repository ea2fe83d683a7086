from collections.abc import Callable

import numpy as np
import pytest

from cosykit.convert.graph import Graph, Value
from cosykit.convert.layers.convolution import Convolution
from cosykit.convert.layers.phased_convolution import phases, whole
from cosykit.runtime.session import Session
from tests.convert.recorded import greatest_difference

CHANNELS, OUTPUTS = 3, 4


def squared(x: Value) -> Value:
    return x * x


def graph_of(convolution: Convolution, missing: int, pieces: int) -> Graph:
    graph = Graph("convolution")
    x = graph.input("x", np.float32, ("batch", CHANNELS, "frames"))
    apart = whole(convolution.of_phases(phases(x, missing, pieces), squared))
    shape = ("batch", OUTPUTS, "frames")
    graph.output("apart", apart, np.float32, shape)
    graph.output("together", convolution(squared(x)), np.float32, shape)
    return graph


@pytest.mark.parametrize("kernel", [1, 3, 5, 7, 11])
@pytest.mark.parametrize("dilation", [1, 3, 5])
@pytest.mark.parametrize(
    ("pieces", "frames"),
    [
        *((1, frames) for frames in ((4, 20, 52), (1, 21, 53), (3, 19, 51))),
        *((2, (8, 12)), (3, (21, 53)), (4, (23, 51))),
    ],
)
def test_frames_apart_give_what_they_give_together(
    session_of: Callable[[Graph], Session],
    kernel: int,
    dilation: int,
    pieces: int,
    frames: tuple[int, ...],
) -> None:
    random = np.random.default_rng(kernel)
    convolution = Convolution(CHANNELS, OUTPUTS, kernel, dilation=dilation)
    for key, parameter in convolution.parameters():
        parameter.load(key, random.standard_normal(parameter.shape, np.float32))
    session = session_of(graph_of(convolution, -frames[0] % 4, pieces))
    for count in frames:
        x = random.standard_normal((2, CHANNELS, count), np.float32)
        apart, together = session.run({"x": x}, ["apart", "together"])
        assert greatest_difference(apart, together) < 1e-3


@pytest.mark.parametrize("kernels", [(1, 3), (3, 11), (11, 1), (7, 5)])
@pytest.mark.parametrize("dilation", [1, 3])
@pytest.mark.parametrize("pieces", [1, 2])
def test_nothing_behind_the_end_is_seen_by_the_next(
    session_of: Callable[[Graph], Session],
    kernels: tuple[int, int],
    dilation: int,
    pieces: int,
) -> None:
    random = np.random.default_rng(1)
    first, second = (
        Convolution(CHANNELS, CHANNELS, kernel, dilation=dilation) for kernel in kernels
    )
    for name, convolution in (("first.", first), ("second.", second)):
        for key, parameter in convolution.parameters(name):
            parameter.load(key, random.standard_normal(parameter.shape, np.float32))
    graph = Graph("convolutions")
    x = graph.input("x", np.float32, ("batch", CHANNELS, "frames"))
    apart = phases(x, 3, pieces)
    for convolution in (first, second):
        apart = convolution.of_phases(apart, squared)
    shape = ("batch", CHANNELS, "frames")
    graph.output("apart", whole(apart), np.float32, shape)
    together = second(squared(first(squared(x))))
    graph.output("together", together, np.float32, shape)
    feeds = {"x": random.uniform(-1, 1, (2, CHANNELS, 53)).astype(np.float32)}
    found, wanted = session_of(graph).run(feeds, ["apart", "together"])
    assert greatest_difference(found, wanted) < 1e-3 * np.abs(wanted).max()
