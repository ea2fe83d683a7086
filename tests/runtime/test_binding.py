import numpy as np
import pytest

from cosykit.convert.graph import Graph
from cosykit.runtime.session import Session, SessionSettings, open_session


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


def test_input_can_be_changed_in_place(adding: Session) -> None:
    growing, one = np.zeros(3, np.float32), np.ones(3, np.float32)
    run = adding.bound({"left": growing, "right": one}, {"sum": growing})
    run()
    run()
    np.testing.assert_array_equal(growing, [2, 2, 2])


def test_memory_with_gaps_is_refused(adding: Session) -> None:
    gaps, whole = np.zeros(6, np.float32)[::2], np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="contiguous"):
        adding.bound({"left": gaps, "right": whole}, {"sum": whole})
