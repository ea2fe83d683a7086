from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.calibration import cache_scales
from cosykit.convert.graph import Graph
from cosykit.convert.models.language_model import (
    LanguageModel,
    embedding_graph,
)
from cosykit.convert.parity import signal_to_error_db
from cosykit.runtime.kv_cache import KvCache
from cosykit.spec import Precision
from tests.conftest import NEEDS_INT8_CACHES
from tests.convert.conftest import Run
from tests.convert.decoding import Sequences, SessionOf, encoder_of, sequences_of
from tests.convert.recorded import recording

# Least signal to error of log-probabilities, in dB, where their mean is no signal.
LEAST: dict[Precision, float] = {"fp32": 100, "fp16": 55, "int8": 32, "int4": 16}
Marks = Sequence[pytest.MarkDecorator]
FLOATS: dict[KvCache, Marks] = {"float": ()}
BOTH: dict[KvCache, Marks] = {"float": (), "int8": (NEEDS_INT8_CACHES,)}
KV_CACHES: dict[Precision, dict[KvCache, Marks]] = {
    "fp32": FLOATS,
    "fp16": FLOATS,
    "int8": BOTH,
    "int4": BOTH,
}

Array = NDArray[Any]


@pytest.fixture(scope="module", params=LEAST)
def precision(request: pytest.FixtureRequest) -> Precision:
    chosen: Precision = request.param
    return chosen


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((level, kind), id=f"{level}-{kind}", marks=marks)
        for level, kinds in KV_CACHES.items()
        for kind, marks in kinds.items()
    ],
)
def kind(request: pytest.FixtureRequest) -> tuple[Precision, KvCache]:
    chosen: tuple[Precision, KvCache] = request.param
    return chosen


@pytest.fixture(scope="module")
def sequences(
    model: LanguageModel,
    session_of: SessionOf,
    kind: tuple[Precision, KvCache],
    tmp_path_factory: pytest.TempPathFactory,
) -> Sequences:
    (precision, kv_cache), scales = kind, None
    if kv_cache == "int8":
        scales = cache_scales(model, precision, tmp_path_factory.mktemp("scratch"))
    return sequences_of(model, session_of, 64, precision, scales)


def centred(scores: Array) -> Array:
    level: Array = scores.mean(axis=-1, keepdims=True)
    return np.subtract(scores, level)


def embedded(model: LanguageModel, tokens: Array) -> Array:
    table: Array = model.speech_embedding.weight.array
    return table[tokens]


@pytest.mark.parametrize("rows", [1, 4])
def test_log_probabilities_are_near_those_of_upstream(
    model: LanguageModel,
    sequences: Sequences,
    kind: tuple[Precision, KvCache],
    rows: int,
) -> None:
    recorded, decoder = recording("llm", "zero_shot"), sequences(rows)
    found = [decoder.begin(recorded["lm_input"][0])[1] for _ in range(rows)][:1]
    for forced in recorded["forced"][:-1]:
        found.append(decoder.step(embedded(model, np.full(rows, forced)))[-1])
    ratio = signal_to_error_db(centred(np.stack(found)), centred(recorded["logp"]))
    assert ratio > LEAST[kind[0]], ratio


def test_batch_is_near_what_its_sequences_give_alone(
    model: LanguageModel, sequences: Sequences, kind: tuple[Precision, KvCache]
) -> None:
    start = recording("llm", "zero_shot")["lm_input"][0]
    starts = [start[:length] for length in (3, 20, 11, 7, 30)]
    batch, singles = sequences(5), [sequences(1) for _ in starts]
    for one, single in zip(starts, singles, strict=True):
        batch.begin(one)
        single.begin(one)
    frames = embedded(model, np.array([4, 8, 15, 16, 23]))
    together = batch.step(frames)
    apart = [single.step(frames[n : n + 1])[0] for n, single in enumerate(singles)]
    ratio = signal_to_error_db(centred(together), centred(np.stack(apart)))
    assert ratio > LEAST[kind[0]], ratio


def test_text_is_encoded_nearly_as_upstream(
    model: LanguageModel, session_of: SessionOf, precision: Precision
) -> None:
    recorded = recording("llm", "plain")
    tokens = np.concatenate([recorded["prompt_text"], recorded["text"]], axis=1)
    found = encoder_of(model, session_of, precision)(tokens)
    ratio = signal_to_error_db(found, recorded["text_encoded"])
    assert ratio > LEAST["int8" if precision == "int4" else precision]


def test_embeddings_are_near_those_of_upstream(
    model: LanguageModel, opened: Callable[[Graph], Run], precision: Precision
) -> None:
    speaker = recording("llm", "plain")["embedding"]
    feeds = {"tokens": np.array([0, 511]), "speakers": speaker}
    wanted, found = (
        opened(embedding_graph(model, level))(feeds) for level in ("fp32", precision)
    )
    for name, array in wanted.items():
        assert signal_to_error_db(found[name], array) > 35
