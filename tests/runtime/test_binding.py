import numpy as np
import pytest

from cosykit.convert.graph import Graph
from cosykit.runtime.blocks import HOST, reserve
from cosykit.runtime.session import Session, SessionSettings, open_session
from tests.runtime.pretended_gpu import GPU, PretendedGpu


@pytest.fixture(scope="module")
def adding(tmp_path_factory: pytest.TempPathFactory) -> Session:
    graph = Graph("adding")
    left, right = (graph.input(name, np.float32, (3,)) for name in ("left", "right"))
    graph.output("sum", left + right, np.float32, (3,))
    path = tmp_path_factory.mktemp("graphs") / "adding.onnx"
    graph.save(path)
    return open_session(path, SessionSettings("cpu", threads=1))


def test_each_call_works_on_what_the_memory_holds_then(adding: Session) -> None:
    left, right, total = (np.zeros(3, np.float32) for _ in range(3))
    run = adding.bound({"left": left, "right": right}, {"sum": total})
    for n in (1, 2):
        left[:], right[:] = n, 10
        run()
        np.testing.assert_array_equal(total, [n + 10] * 3)


def test_block_can_be_input_and_output(adding: Session) -> None:
    growing, one = reserve(HOST, (3,), np.dtype(np.float32)), np.ones(3, np.float32)
    assert growing.array is not None
    growing.array[:] = 0
    run = adding.bound({"left": growing, "right": one}, {"sum": growing})
    run()
    run()
    np.testing.assert_array_equal(growing.array, [2, 2, 2])


def test_blocks_of_a_gpu_stay_there_and_arrays_are_brought_at_every_run(
    adding: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = PretendedGpu(monkeypatch)
    session = gpu.session(adding)
    growing = reserve(session.place_of("left"), (3,), np.dtype(np.float32))
    brought, total = np.zeros(3, np.float32), np.zeros(3, np.float32)
    session.bound({"left": brought, "right": brought}, {"sum": growing})()
    run = session.bound({"left": growing, "right": brought}, {"sum": growing})
    for n in (1, 2):
        brought[:] = n
        run()
    session.bound({"left": growing, "right": brought * 0}, {"sum": total})()
    np.testing.assert_array_equal(total, [3, 3, 3])
    assert growing.place == GPU
    assert gpu.bound.inputs.count(("left", "cuda")) == 2
    assert gpu.bound.outputs == [("sum", "cuda")] * 2 + [("sum", "cpu")]


def test_memory_with_gaps_is_refused(adding: Session) -> None:
    gaps, whole = np.zeros(6, np.float32)[::2], np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="contiguous"):
        adding.bound({"left": gaps, "right": whole}, {"sum": whole})
