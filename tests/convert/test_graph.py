import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from cosykit.convert.graph import Graph
from cosykit.runtime.session import SessionSettings, open_session
from tests.convert.conftest import Run


def kinds(graph: Graph, path: Path) -> list[str]:
    graph.save(path)
    return [node.op_type for node in onnx.load(path).graph.node]


def test_transposing_there_and_back_costs_nothing(tmp_path: Path) -> None:
    graph = Graph("back")
    x = graph.input("x", np.float32, ("rows", "columns"))
    back = x.transpose(1, 0).transpose(1, 0)
    graph.output("y", back * 2.0, np.float32, ("rows", "columns"))
    assert kinds(graph, tmp_path / "back.onnx") == ["Mul"]


def test_moved_tensor_is_quantized_where_it_came_from() -> None:
    graph = Graph("moved", "int8")
    x = graph.input("x", np.float32, (2, 3, 4))
    once = graph.quantized(x)
    moved = graph.quantized(x.transpose(0, 2, 1).reshape(8, 3))
    assert (moved.scale, moved.zero) == (once.scale, once.zero)


def test_moved_integers_are_those_of_the_moved_tensor(
    opened: Callable[[Graph], Run],
) -> None:
    graph = Graph("moved", "int8")
    x = graph.input("x", np.float32, (2, 3, 4))
    moved = graph.quantized(x.transpose(0, 2, 1).reshape(8, 3))
    offset = moved.values.cast(np.float32) - moved.zero.cast(np.float32)
    graph.output("y", offset * moved.scale, np.float32, (8, 3))
    values = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    found = opened(graph)({"x": values})["y"]
    wanted = values.transpose(0, 2, 1).reshape(8, 3)
    np.testing.assert_allclose(found, wanted, atol=0.02)


def test_what_no_output_needs_is_not_written(tmp_path: Path) -> None:
    graph = Graph("unneeded")
    x = graph.input("x", np.float32, ("rows",))
    graph.output("y", x * 2.0, np.float32, ("rows",))
    _ = x * graph.weight("unneeded", np.ones(2, np.float32))
    graph.save(tmp_path / "graph.onnx")
    written = onnx.load(tmp_path / "graph.onnx").graph
    assert [node.op_type for node in written.node] == ["Mul"]
    assert len(written.initializer) == 1


def test_constants_of_equal_bytes_are_one_only_if_they_are_alike(
    opened: Callable[[Graph], Run],
) -> None:
    graph = Graph("constants")
    x = graph.input("x", np.float32, (2, 3))
    numbers = (np.zeros(3, np.float32), np.zeros((3, 1), np.float32))
    names = [graph.constant(each).name for each in (*numbers, np.zeros(3, np.int32))]
    assert len(set(names)) == 3
    assert graph.constant(np.zeros(3, np.float32)).name == names[0]
    wide = x.unsqueeze(1) + graph.constant(numbers[0]) + graph.constant(numbers[1])
    graph.output("y", wide, np.float32, (2, 3, 3))
    assert opened(graph)({"x": np.ones((2, 3), np.float32)})["y"].shape == (2, 3, 3)


def test_weights_begin_on_a_page_and_small_ones_stay_in_the_graph(
    tmp_path: Path,
) -> None:
    graph = Graph("weights")
    x = graph.input("x", np.float32, (300,))
    for number, size in enumerate((300, 300, 1)):
        x = x + graph.weight(f"w{number}", np.full(size, number, np.float32))
    graph.output("y", x, np.float32, (300,))
    graph.save(tmp_path / "weights.onnx")
    model = onnx.load(tmp_path / "weights.onnx", load_external_data=False)
    offsets = {
        each.name: int(place.value)
        for each in model.graph.initializer
        for place in each.external_data
        if place.key == "offset"
    }
    assert offsets == {"w0": 0, "w1": 4096}


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_session_maps_the_weights(tmp_path: Path) -> None:
    graph = Graph("mapped")
    x = graph.input("x", np.float32, (3000,))
    y = x + graph.weight("w", np.full(3000, 2, np.float32))
    graph.output("y", y, np.float32, (3000,))
    graph.save(tmp_path / "mapped.onnx")
    session = open_session(tmp_path / "mapped.onnx", SessionSettings("cpu", threads=1))
    assert str(tmp_path / "mapped.onnx.data") in Path("/proc/self/maps").read_text()
    (found,) = session.run({"x": np.ones(3000, np.float32)})
    assert (found == 3).all()
