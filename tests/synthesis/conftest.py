from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cosykit.convert.checkpoint import read_checkpoint
from cosykit.convert.dimensions import Dimensions, read_dimensions
from cosykit.convert.graph import Graph
from cosykit.convert.models.estimator import estimator_graph
from cosykit.convert.models.flow import Flow as FlowWeights
from cosykit.convert.models.flow import encoder_graph, length_regulator_graph
from cosykit.convert.models.source import pitch_graph, source_graph
from cosykit.convert.models.vocoder import (
    Vocoder,
    vocoder_graph,
    vocoder_weights,
)
from cosykit.convert.module import load_weights
from cosykit.runtime.session import Session, SessionSettings, open_session
from cosykit.synthesis.flow.model import Flow
from cosykit.synthesis.vocoder.graphs import HiftGraphs
from tests.convert.recorded import FOLDER

Open = Callable[[Graph], Session]


@pytest.fixture(scope="session")
def dimensions() -> Dimensions:
    return read_dimensions(FOLDER / "cosyvoice.yaml")


@pytest.fixture(scope="session")
def session_of(tmp_path_factory: pytest.TempPathFactory) -> Open:
    def open_graph(graph: Graph) -> Session:
        path: Path = tmp_path_factory.mktemp("graphs") / "graph.onnx"
        graph.save(path)
        return open_session(path, SessionSettings("cpu", threads=1))

    return open_graph


@pytest.fixture(scope="session")
def flow_sessions(dimensions: Dimensions, session_of: Open) -> Sequence[Session]:
    """The graphs of the tiny model's flow, in the order in which `Flow` takes them."""
    weights = FlowWeights(dimensions.flow)
    load_weights(weights, read_checkpoint(FOLDER / "flow.pt"), "flow.pt")
    estimator, mels = weights.decoder.estimator, dimensions.flow.mels
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
def hift_sessions(dimensions: Dimensions, session_of: Open) -> Sequence[Session]:
    """The graphs of the tiny model's vocoder, as `HiftGraphs` takes them."""
    weights = Vocoder(dimensions.vocoder)
    checkpoint = vocoder_weights(read_checkpoint(FOLDER / "hift.pt"))
    load_weights(weights, checkpoint, "hift.pt")
    graphs = (
        pitch_graph(weights.f0_predictor),
        source_graph(weights.m_source),
        vocoder_graph(weights),
    )
    return [session_of(graph) for graph in graphs]


@pytest.fixture(scope="session")
def hift(hift_sessions: Sequence[Session]) -> HiftGraphs:
    return HiftGraphs(*hift_sessions)
