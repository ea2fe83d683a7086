from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.dimensions import Dimensions, read_dimensions
from cosykit.convert.graph import Graph
from cosykit.runtime.session import Session, SessionSettings, open_session
from tests.convert.recorded import FOLDER

Feeds = Mapping[str, NDArray[Any]]
Run = Callable[[Feeds], dict[str, NDArray[np.float32]]]


@pytest.fixture(scope="session")
def dimensions() -> Dimensions:
    return read_dimensions(FOLDER / "cosyvoice.yaml")


@pytest.fixture(scope="session")
def session_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Graph], Session]:
    """Save a graph and load it."""

    def open_graph(graph: Graph) -> Session:
        path = tmp_path_factory.mktemp("graphs") / "graph.onnx"
        graph.save(path)
        return open_session(path, SessionSettings("cpu", threads=1))

    return open_graph


@pytest.fixture(scope="session")
def opened(session_of: Callable[[Graph], Session]) -> Callable[[Graph], Run]:
    """Save a graph, load it, and give back what runs it."""

    def open_graph(graph: Graph) -> Run:
        session, names = session_of(graph), graph.output_names

        def run(feeds: Feeds) -> dict[str, NDArray[np.float32]]:
            found = session.run(feeds, names)
            return dict(zip(names, found, strict=True))  # type: ignore[arg-type]

        return run

    return open_graph
