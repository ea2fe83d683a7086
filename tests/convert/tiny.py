"""The networks of the tiny model, with the weights that were recorded."""

from functools import cache
from pathlib import Path

from cosykit.convert.checkpoint import read_checkpoint
from cosykit.convert.dimensions import Dimensions, read_dimensions
from cosykit.convert.graph import Graph
from cosykit.convert.models.flow import Flow
from cosykit.convert.models.language_model import LanguageModel
from cosykit.convert.models.vocoder import Vocoder, vocoder_weights
from cosykit.convert.module import load_weights
from cosykit.runtime.session import Session, SessionSettings, open_session
from tests.convert.recorded import FOLDER


@cache
def tiny_dimensions() -> Dimensions:
    return read_dimensions(FOLDER / "cosyvoice.yaml")


@cache
def tiny_language_model() -> LanguageModel:
    return new_language_model()


def new_language_model() -> LanguageModel:
    """Load one that may be changed."""
    model = LanguageModel(tiny_dimensions().lm)
    load_weights(model, read_checkpoint(FOLDER / "llm.pt"), "llm.pt")
    return model


@cache
def tiny_flow() -> Flow:
    flow = Flow(tiny_dimensions().flow)
    load_weights(flow, read_checkpoint(FOLDER / "flow.pt"), "flow.pt")
    return flow


@cache
def tiny_vocoder() -> Vocoder:
    vocoder = Vocoder(tiny_dimensions().vocoder)
    checkpoint = vocoder_weights(read_checkpoint(FOLDER / "hift.pt"))
    load_weights(vocoder, checkpoint, "hift.pt")
    return vocoder


def saved_and_opened(graph: Graph, folder: Path, threads: int = 1) -> Session:
    """Write a graph and load it; the folder may be emptied afterwards."""
    path = folder / "graph.onnx"
    graph.save(path)
    return open_session(path, SessionSettings("cpu", threads=threads))
