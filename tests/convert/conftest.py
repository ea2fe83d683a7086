from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.dimensions import Dimensions
from cosykit.convert.graph import Graph
from cosykit.convert.models.language_model import LanguageModel
from cosykit.runtime.session import Session
from tests.convert.tiny import saved_and_opened, tiny_dimensions, tiny_language_model

Feeds = Mapping[str, NDArray[Any]]
Run = Callable[[Feeds], dict[str, NDArray[np.float32]]]


@pytest.fixture(scope="session")
def dimensions() -> Dimensions:
    return tiny_dimensions()


@pytest.fixture(scope="session")
def model() -> LanguageModel:
    return tiny_language_model()


@pytest.fixture(scope="session")
def session_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Graph], Session]:
    """Save a graph and load it."""

    return lambda graph: saved_and_opened(graph, tmp_path_factory.mktemp("graphs"))


@pytest.fixture(scope="session")
def opened(session_of: Callable[[Graph], Session]) -> Callable[[Graph], Run]:
    """Save a graph, load it, and give back what runs it."""

    def open_graph(graph: Graph) -> Run:
        session = session_of(graph)

        def run(feeds: Feeds) -> dict[str, NDArray[np.float32]]:
            found = session.run(feeds)
            return dict(zip(session.outputs, found, strict=True))  # type: ignore[arg-type]

        return run

    return open_graph
