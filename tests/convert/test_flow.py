from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.graph import Graph
from cosykit.convert.models.estimator import estimator_graph
from cosykit.convert.models.flow import Flow as FlowWeights
from cosykit.convert.models.flow import encoder_graph, length_regulator_graph
from cosykit.runtime.session import Session
from cosykit.synthesis.flow.euler import Conditions, follow, times
from cosykit.synthesis.flow.model import Flow, FlowPart
from cosykit.synthesis.flow.stream import FlowCache, FlowPrompt, FlowStream
from cosykit.types import Mel
from tests.convert.following import ended
from tests.convert.recorded import (
    Recording,
    greatest_difference,
    recording,
)
from tests.convert.tiny import tiny_flow

TOLERANCE = 1e-4
CALLS = ("short", "prompt", "chunk0", "chunk1")


@pytest.fixture(scope="module")
def weights() -> FlowWeights:
    return tiny_flow()


@pytest.fixture(scope="module")
def estimator(weights: FlowWeights, session_of: Callable[[Graph], Session]) -> Session:
    return session_of(estimator_graph(weights.decoder.estimator, 80, ragged=False))


@pytest.fixture(scope="module")
def ragged(weights: FlowWeights, session_of: Callable[[Graph], Session]) -> Session:
    return session_of(estimator_graph(weights.decoder.estimator, 80, ragged=True))


@pytest.fixture(scope="module")
def flow(
    weights: FlowWeights, estimator: Session, session_of: Callable[[Graph], Session]
) -> Flow:
    encoder = session_of(encoder_graph(weights))
    return Flow(encoder, session_of(length_regulator_graph(weights)), estimator)


def prompt_of(recorded: Recording) -> FlowPrompt:
    return FlowPrompt(
        recorded["embedding"],
        recorded["prompt_token"][0].astype(np.int64),
        recorded["prompt_feat"].transpose(0, 2, 1),
    )


def tokens_of(recorded: Recording) -> NDArray[np.int64]:
    tokens: NDArray[np.int64] = recorded["token"][0].astype(np.int64)
    return tokens


def mel_of(flow: Flow, call: str) -> NDArray[np.float32]:
    recorded = recording("flow", call)
    noise = recorded["noise"][0]
    stream = FlowStream(prompt_of(recorded), lambda frames: noise[:, :frames])
    return flow.process([FlowPart(stream, tokens_of(recorded), last=True)])[0]


class Watched(FlowStream):
    """Notes its mels before they are faded into each other."""

    mel: Mel

    def end(self, mel: Mel, begun: FlowCache, tokens: int, *, last: bool) -> Mel:
        self.mel = mel
        return super().end(mel, begun, tokens, last=last)


def conditions_of(recorded: Recording) -> Conditions:
    return Conditions(recorded["mu"], recorded["spks"], recorded["cond"])


def test_times_are_those_of_upstream() -> None:
    assert greatest_difference(times(), recording("flow", "short")["t_span"]) < 1e-6


def test_one_step_is_that_of_upstream(estimator: Session) -> None:
    recorded = recording("flow", "short")
    none = np.zeros_like
    mu, speaker, prompt = recorded["mu"], recorded["spks"], recorded["cond"]
    (velocity,) = estimator.run(
        {
            "x": recorded["est0_in"],
            "mu": np.concatenate([mu, none(mu)]),
            "speaker": np.concatenate([speaker, none(speaker)]),
            "condition": np.concatenate([prompt, none(prompt)]),
            "time": recorded["t"][0],
        }
    )
    assert greatest_difference(velocity, recorded["est0_out"]) < TOLERANCE


@pytest.mark.parametrize("call", ["short", "prompt", "chunk0"])
def test_mel_is_that_of_upstream(flow: Flow, call: str) -> None:
    recorded = recording("flow", call)
    assert greatest_difference(mel_of(flow, call), recorded["mel"][0]) < TOLERANCE


def test_mel_of_a_second_chunk_is_that_of_upstream(flow: Flow) -> None:
    first, second = (recording("flow", call) for call in ("chunk0", "chunk1"))
    noises = [first["noise"][0], second["noise"][0]]
    # What it shares with the first one comes again, and is not drawn.
    stream = Watched(
        prompt_of(second), lambda frames: noises.pop(0)[:, -frames:], as_upstream=True
    )
    for recorded in (first, second):
        flow.process([FlowPart(stream, tokens_of(recorded), last=False)])
        assert greatest_difference(stream.mel, recorded["mel"][0]) < TOLERANCE


def test_batch_of_four_lengths_equals_four_single_flows(
    estimator: Session, ragged: Session
) -> None:
    calls = [recording("flow", call) for call in CALLS]
    frames = max(call["noise"].shape[2] for call in calls)

    def padded(name: str) -> NDArray[Any]:
        # What stands in the padding must not matter.
        rows = [
            np.pad(
                call[name],
                ((0, 0), (0, 0), (0, frames - call[name].shape[2])),
                constant_values=7,
            )
            for call in calls
        ]
        return np.concatenate(rows)

    conditions = Conditions(
        padded("mu"),
        np.concatenate([call["spks"] for call in calls]),
        padded("cond"),
        np.array([call["noise"].shape[2] for call in calls]),
    )
    together = ended(follow(ragged, padded("noise"), conditions))
    for row, call in enumerate(calls):
        alone = ended(follow(estimator, call["noise"], conditions_of(call)))
        assert greatest_difference(alone, call["full"]) < TOLERANCE
        found = together[row : row + 1, :, : alone.shape[2]]
        assert greatest_difference(found, alone) < TOLERANCE


def test_estimator_is_written_beside_its_weights(
    weights: FlowWeights, tmp_path: Path
) -> None:
    graph = estimator_graph(weights.decoder.estimator, 80, ragged=False)
    graph.save(tmp_path / "estimator.onnx")
    graph_bytes, weight_bytes = (
        (tmp_path / name).stat().st_size
        for name in ("estimator.onnx", "estimator.onnx.data")
    )
    assert graph_bytes < weight_bytes
