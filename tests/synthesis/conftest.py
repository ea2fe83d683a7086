from collections.abc import Callable, Sequence

import pytest

from cosykit.convert.graph import Graph
from cosykit.convert.models.estimator import estimator_graph
from cosykit.convert.models.flow import encoder_graph, length_regulator_graph
from cosykit.convert.models.source import pitch_graph, source_graph
from cosykit.convert.models.vocoder import vocoder_graph
from cosykit.runtime.session import Session
from cosykit.synthesis.flow.model import Flow
from cosykit.synthesis.vocoder.graphs import HiftGraphs
from tests.convert.tiny import (
    saved_and_opened,
    tiny_dimensions,
    tiny_flow,
    tiny_vocoder,
)

Open = Callable[[Graph], Session]


@pytest.fixture(scope="session")
def session_of(tmp_path_factory: pytest.TempPathFactory) -> Open:
    return lambda graph: saved_and_opened(graph, tmp_path_factory.mktemp("graphs"))


@pytest.fixture(scope="session")
def flow_sessions(session_of: Open) -> Sequence[Session]:
    """The graphs of the tiny model's flow, in the order in which `Flow` takes them."""
    weights = tiny_flow()
    estimator, mels = weights.decoder.estimator, tiny_dimensions().flow.mels
    return [
        session_of(encoder_graph(weights)),
        session_of(length_regulator_graph(weights)),
        session_of(estimator_graph(estimator, mels, ragged=False)),
        session_of(estimator_graph(estimator, mels, ragged=True)),
    ]


@pytest.fixture(scope="session")
def flow(flow_sessions: Sequence[Session]) -> Flow:
    return Flow(*flow_sessions)


@pytest.fixture(scope="session")
def hift_sessions(session_of: Open) -> Sequence[Session]:
    """The graphs of the tiny model's vocoder, as `HiftGraphs` takes them."""
    weights = tiny_vocoder()
    graphs = (
        pitch_graph(weights.f0_predictor),
        source_graph(weights.m_source),
        vocoder_graph(weights),
    )
    return [session_of(graph) for graph in graphs]


@pytest.fixture(scope="session")
def hift(hift_sessions: Sequence[Session]) -> HiftGraphs:
    return HiftGraphs(*hift_sessions)
