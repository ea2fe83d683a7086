from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.checkpoint import read_checkpoint
from cosykit.convert.dimensions import Dimensions
from cosykit.convert.graph import Graph
from cosykit.convert.models.estimator import estimator_graph
from cosykit.convert.models.flow import Flow as FlowWeights
from cosykit.convert.models.flow import encoder_graph, length_regulator_graph
from cosykit.convert.module import load_weights
from cosykit.runtime.session import Session
from cosykit.synthesis.flow.euler import Conditions, follow, times
from cosykit.synthesis.flow.model import Flow, FlowCache, FlowPrompt
from cosykit.synthesis.flow.stretch import frames_of, interpolate
from tests.convert.recorded import (
    FOLDER,
    Recording,
    greatest_difference,
    recording,
)

TOLERANCE = 1e-4
SEEDS = {"short": 1007, "prompt": 2007, "chunk0": 3007, "chunk1": 4007}


@pytest.fixture(scope="module")
def weights(dimensions: Dimensions) -> FlowWeights:
    weights = FlowWeights(dimensions.flow)
    load_weights(weights, read_checkpoint(FOLDER / "flow.pt"), "flow.pt")
    return weights


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


def noise_of(call: str, frames: int) -> NDArray[np.float32]:
    drawn = np.random.RandomState(SEEDS[call]).standard_normal((1, 80, frames))
    return drawn.astype(np.float32)


def mel_of(
    flow: Flow, call: str, cache: FlowCache | None = None
) -> tuple[NDArray[np.float32], FlowCache]:
    recorded = recording("flow", call)
    prompt = FlowPrompt(
        recorded["embedding"],
        recorded["prompt_token"][0].astype(np.int64),
        recorded["prompt_feat"].transpose(0, 2, 1),
    )
    tokens = recorded["token"][0].astype(np.int64)
    noise = noise_of(call, flow.frames(tokens.size, prompt))
    return flow.mel(tokens, prompt, noise, cache)


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
    mel, cache = mel_of(flow, call)
    assert greatest_difference(mel, recorded["mel"]) < TOLERANCE
    assert greatest_difference(cache.noise, recorded["cache"][..., 0]) < TOLERANCE
    assert greatest_difference(cache.mu, recorded["cache"][..., 1]) < TOLERANCE


def test_next_chunk_of_a_stream_is_that_of_upstream(flow: Flow) -> None:
    recorded = recording("flow", "chunk1")
    _, cache = mel_of(flow, "chunk0")
    mel, cache = mel_of(flow, "chunk1", cache)
    assert greatest_difference(mel, recorded["mel"]) < TOLERANCE
    assert greatest_difference(cache.mu, recorded["cache"][..., 1]) < TOLERANCE


def test_batch_of_four_lengths_equals_four_single_flows(
    estimator: Session, ragged: Session
) -> None:
    calls = [recording("flow", call) for call in SEEDS]
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

    together = follow(
        ragged,
        padded("noise"),
        Conditions(
            padded("mu"),
            np.concatenate([call["spks"] for call in calls]),
            padded("cond"),
            np.array([call["noise"].shape[2] for call in calls]),
        ),
    )
    for row, call in enumerate(calls):
        alone = follow(estimator, call["noise"], conditions_of(call))
        assert greatest_difference(alone, call["full"]) < TOLERANCE
        found = together[row : row + 1, :, : alone.shape[2]]
        assert greatest_difference(found, alone) < TOLERANCE


def test_frames_are_rounded_down() -> None:
    assert [frames_of(n) for n in (0, 1, 20, 31, 100)] == [0, 1, 34, 53, 172]


def test_interpolation_keeps_a_ramp_between_its_ends() -> None:
    ramp = np.arange(10, dtype=np.float32)[None, None]
    np.testing.assert_allclose(interpolate(ramp, 10), ramp)
    doubled = interpolate(ramp, 20)[0, 0]
    np.testing.assert_allclose(doubled[1:-1], np.arange(18) / 2 + 0.25)
    assert (doubled[0], doubled[-1]) == (0, 9)


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
