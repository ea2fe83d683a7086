from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.graph import Graph
from cosykit.convert.models.estimator import estimator_graph
from cosykit.convert.models.flow import Flow, encoder_graph, length_regulator_graph
from cosykit.convert.parity import signal_to_error_db
from cosykit.runtime.session import Session
from cosykit.spec import Precision
from tests.convert.recorded import recording
from tests.convert.tiny import tiny_flow

Open = Callable[[Graph], Session]

LEAST_DB: dict[Precision, float] = {"fp16": 55, "int8": 30, "int4": 30}


@pytest.fixture(scope="module")
def flow() -> Flow:
    return tiny_flow()


def steps(frames: int) -> dict[str, NDArray[Any]]:
    """Give two rows of recorded input, the second shorter and without conditions."""
    call = recording("flow", "prompt")
    rows = {
        name: np.concatenate([part, np.zeros_like(part)])
        for name, part in (
            ("mu", call["mu"]),
            ("speaker", call["spks"]),
            ("condition", call["cond"]),
        )
    }
    x = np.concatenate([call["noise"], call["noise"]])
    # What stands in the padding must not matter.
    x[1, :, frames:] = 7
    return {"x": x, "time": np.full(2, 0.3, np.float32), **rows}


@pytest.mark.parametrize("precision", LEAST_DB)
def test_step_is_near_that_of_full_precision(
    flow: Flow, session_of: Open, precision: Precision
) -> None:
    exact, lower = (
        session_of(
            estimator_graph(
                flow.decoder.estimator, 80, ragged=False, precision=precision
            )
        ).run(steps(200))[0]
        for precision in ("fp32", precision)
    )
    assert signal_to_error_db(lower, exact) > LEAST_DB[precision]


@pytest.mark.parametrize("precision", ["fp16", "int8"])
def test_padded_row_is_near_what_it_is_alone(
    flow: Flow, session_of: Open, precision: Precision
) -> None:
    alone, ragged = (
        session_of(
            estimator_graph(
                flow.decoder.estimator, 80, ragged=ragged, precision=precision
            )
        )
        for ragged in (False, True)
    )
    feeds, frames = steps(101), 101
    lengths = np.array([feeds["x"].shape[2], frames])
    row = ragged.run({**feeds, "lengths": lengths})[0][1:]
    single = alone.run({k: v[1:][..., :frames] for k, v in feeds.items()})[0]
    assert not row[..., frames:].any()
    # Integers of a batch share their range, so it is as near as integers are at all.
    assert signal_to_error_db(row[..., :frames], single) > LEAST_DB[precision] - 2


@pytest.mark.parametrize("precision", LEAST_DB)
def test_mean_is_near_that_of_full_precision(
    flow: Flow, session_of: Open, precision: Precision
) -> None:
    call = recording("flow", "short")
    feeds = {
        "tokens": call["token"].astype(np.int64),
        "speaker_vector": call["embedding"],
    }

    def found(precision: Precision) -> list[NDArray[Any]]:
        encoder = session_of(encoder_graph(flow, precision))
        states, speaker = encoder.run(feeds, ["states", "speaker"])
        regulator = session_of(length_regulator_graph(flow, precision))
        return [states, speaker, regulator.run({"stretched": states})[0]]

    for lower, exact in zip(found(precision), found("fp32"), strict=True):
        assert signal_to_error_db(lower, exact) > LEAST_DB[precision]
