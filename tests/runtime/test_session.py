"""A graph that cannot be loaded is told with what to do about it."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from cosykit.errors import ModelLoadError, OutOfMemoryError, TooLittleMemoryError
from cosykit.runtime.session import SessionSettings, open_session

SETTINGS = SessionSettings("cpu", threads=1, remedy="Run: cosykit install it --repair")


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "does not exist"), (b"", "cannot load"), (b"no graph", "cannot load")],
)
def test_missing_and_broken_graphs_are_told_with_the_remedy(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    graph = tmp_path / "graph.onnx"
    if content is not None:
        graph.write_bytes(content)
    with pytest.raises(ModelLoadError, match=message) as caught:
        open_session(graph, SETTINGS)
    assert caught.value.hint == SETTINGS.remedy


@pytest.mark.parametrize(
    "message",
    ["Exception: std::bad_alloc", "pthread_create failed: Cannot allocate memory\n\n"],
)
def test_graph_without_room_for_it_is_not_to_be_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: str
) -> None:
    def run_out(*_: object, **__: object) -> None:
        raise RuntimeError(message)

    monkeypatch.setattr(onnxruntime, "InferenceSession", run_out)
    (tmp_path / "graph.onnx").touch()
    with pytest.raises(TooLittleMemoryError, match=r"memory for graph\.onnx") as caught:
        open_session(tmp_path / "graph.onnx", SETTINGS)
    assert "repair" not in caught.value.hint


@pytest.mark.parametrize("bound", [False, True])
def test_run_that_needs_too_much_memory_says_so_and_the_next_may_need_less(
    tmp_path: Path, bound: bool
) -> None:
    node = onnx.helper.make_node("Expand", ["one", "size"], ["many"])
    total = onnx.helper.make_node("ReduceSum", ["many"], ["sum"], keepdims=0)
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [node, total],
        "expanding",
        [
            value("one", onnx.TensorProto.FLOAT, [1]),
            value("size", onnx.TensorProto.INT64, [1]),
        ],
        [value("sum", onnx.TensorProto.FLOAT, [])],
    )
    opset = onnx.helper.make_opsetid("", 17)
    model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8)
    onnx.save(model, tmp_path / "graph.onnx")
    session = open_session(tmp_path / "graph.onnx", SETTINGS)
    feeds = {"one": np.ones(1, np.float32), "size": np.array([10**15])}
    result = {"sum": np.zeros((), np.float32)}
    run = session.bound(feeds, result) if bound else lambda: session.run(feeds)
    with pytest.raises(OutOfMemoryError, match="not enough memory"):
        run()
    feeds["size"][0] = 7
    run()
    if bound:
        assert result["sum"] == 7
    else:
        assert session.run(feeds) == [7]
