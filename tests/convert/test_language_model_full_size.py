"""What quantization takes from the decoder of CosyVoice-300M, with random weights."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.calibration import cache_scales
from cosykit.convert.dimensions import EncoderDimensions, LanguageModelDimensions
from cosykit.convert.graph import Graph
from cosykit.convert.models.language_model import LanguageModel
from cosykit.convert.parity import signal_to_error_db
from cosykit.runtime.session import Session
from cosykit.spec import Precision
from tests.conftest import NEEDS_INT8_CACHES
from tests.convert.decoding import Sequences, sequences_of
from tests.convert.tiny import saved_and_opened

SIZES = LanguageModelDimensions(
    text_vocabulary=8,
    speech_vocabulary=4096,
    speaker=192,
    text_encoder=EncoderDimensions(inputs=8, size=8, heads=1, hidden=8, layers=1),
    decoder=EncoderDimensions(inputs=1024, size=1024, heads=16, hidden=4096, layers=14),
)
CAPACITY = 64

Array = NDArray[Any]


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    model, random = LanguageModel(SIZES), np.random.default_rng(0)
    for key, parameter in model.parameters():
        if "norm" in key or ".embed.out.1." in key:
            array = np.full(parameter.shape, key.endswith("weight"), np.float32)
        else:
            array = random.random(parameter.shape, np.float32) * 2 - 1
            array *= parameter.shape[-1] ** -0.5
        parameter.load(key, array)
    return model


@pytest.fixture
def session_of(tmp_path: Path) -> Callable[[Graph], Session]:
    """Save a graph, load it, and remove its files: they are large, and mapped."""

    def open_graph(graph: Graph) -> Session:
        session = saved_and_opened(graph, tmp_path, threads=2)
        for file in tmp_path.iterdir():
            file.unlink()
        return session

    return open_graph


def scores(sequences: Sequences) -> Array:
    """Compute log-probabilities of a prefill and of single steps."""
    random = np.random.default_rng(1)
    frames = random.standard_normal((40, SIZES.decoder.inputs)).astype(np.float32)
    decoder = sequences(1)
    first = decoder.begin(frames[:25])[1][None]
    return np.concatenate([first, *(decoder.step(f[None]) for f in frames[25:])])


def centred(log_probabilities: Array) -> Array:
    """Take off the level that all tokens share, which would count as signal."""
    level: Array = log_probabilities.mean(axis=1, keepdims=True)
    return np.subtract(log_probabilities, level)


def test_eight_bits_keep_log_probabilities(
    model: LanguageModel, session_of: Callable[[Graph], Session]
) -> None:
    levels: tuple[Precision, ...] = ("fp32", "int8", "int4")
    exact, int8, int4 = (
        scores(sequences_of(model, session_of, CAPACITY, level)) for level in levels
    )
    assert signal_to_error_db(int8, exact) > 30
    assert signal_to_error_db(centred(int8), centred(exact)) > 30
    assert signal_to_error_db(centred(int4), centred(exact)) > 12


@NEEDS_INT8_CACHES
def test_an_int8_cache_keeps_log_probabilities(
    model: LanguageModel, session_of: Callable[[Graph], Session], tmp_path: Path
) -> None:
    exact = scores(sequences_of(model, session_of, CAPACITY, "fp32"))
    scales = cache_scales(model, "int8", tmp_path)
    found = scores(sequences_of(model, session_of, CAPACITY, "int8", scales))
    assert signal_to_error_db(found, exact) > 30
    assert signal_to_error_db(centred(found), centred(exact)) > 30
