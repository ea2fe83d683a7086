"""What quantization takes from the estimator of CosyVoice-300M, with random weights."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.dimensions import EstimatorDimensions
from cosykit.convert.models.estimator import Estimator, estimator_graph
from cosykit.convert.parity import signal_to_error_db
from cosykit.runtime.session import Session
from cosykit.spec import Precision
from cosykit.synthesis.flow.euler import Conditions, follow
from tests.convert.following import ended
from tests.convert.tiny import saved_and_opened

SIZES = EstimatorDimensions(
    mels=80, channels=(256, 256), blocks=4, middle=12, heads=8, head_size=64
)
FRAMES = 80


@pytest.fixture(scope="module")
def estimator() -> Estimator:
    estimator, random = Estimator(SIZES), np.random.default_rng(0)
    for key, parameter in estimator.parameters():
        shape = parameter.shape
        if len(shape) == 1:
            is_norm = "norm" in key or ".block.1." in key
            array = np.full(shape, is_norm and key.endswith("weight"), np.float32)
        else:
            array = random.random(shape, np.float32) * 2 - 1
            array *= np.prod(shape[1:]) ** -0.5
        parameter.load(key, array)
    return estimator


def opened(estimator: Estimator, precision: Precision, folder: Path) -> Session:
    """Save the graph, load it, and remove its files: they are large, and mapped."""
    graph = estimator_graph(estimator, SIZES.mels, ragged=False, precision=precision)
    session = saved_and_opened(graph, folder, threads=2)
    for file in folder.iterdir():
        file.unlink()
    return session


def gaussian(seed: int, *shape: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def velocity(session: Session) -> NDArray[Any]:
    """Run one step, the second row without conditions."""
    shape = (1, SIZES.mels, FRAMES)
    none = np.zeros(shape, np.float32)
    speaker = gaussian(3, 1, SIZES.mels)
    feeds = {
        "x": np.concatenate([gaussian(1, *shape)] * 2),
        "mu": np.concatenate([gaussian(2, *shape), none]),
        "speaker": np.concatenate([speaker, 0 * speaker]),
        "condition": np.concatenate([gaussian(4, *shape), none]),
        "time": np.full(2, 0.3, np.float32),
    }
    found: NDArray[Any] = session.run(feeds)[0]
    return found


def mel(session: Session) -> NDArray[Any]:
    shape = (1, SIZES.mels, FRAMES)
    conditions = Conditions(
        gaussian(2, *shape), gaussian(3, 1, SIZES.mels), gaussian(4, *shape)
    )
    return ended(follow(session, gaussian(1, *shape), conditions))


def test_eight_bits_keep_steps_and_mels(estimator: Estimator, tmp_path: Path) -> None:
    exact, int8 = (opened(estimator, level, tmp_path) for level in ("fp32", "int8"))
    for found, wanted in zip(velocity(int8), velocity(exact), strict=True):
        assert signal_to_error_db(found, wanted) > 30
    assert signal_to_error_db(mel(int8), mel(exact)) > 38
