from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.checkpoint import read_checkpoint
from cosykit.convert.dimensions import Dimensions
from cosykit.convert.graph import Graph
from cosykit.convert.models.language_model import (
    LanguageModel,
    decoder_graph,
    embedding_graph,
    text_encoder_graph,
)
from cosykit.convert.module import load_weights
from tests.convert.conftest import Run
from tests.convert.recorded import FOLDER, greatest_difference, recording

CASES = ("plain", "zero_shot", "instruct")
CAPACITY = 64
TOLERANCE = 1e-4

Array = NDArray[Any]


@pytest.fixture(scope="module")
def model(dimensions: Dimensions) -> LanguageModel:
    model = LanguageModel(dimensions.lm)
    load_weights(model, read_checkpoint(FOLDER / "llm.pt"), "llm.pt")
    return model


@pytest.fixture(scope="module")
def encode(model: LanguageModel, opened: Callable[[Graph], Run]) -> Run:
    return opened(text_encoder_graph(model))


@pytest.fixture(scope="module")
def embed(model: LanguageModel, opened: Callable[[Graph], Run]) -> Run:
    return opened(embedding_graph(model))


@pytest.fixture(scope="module")
def decode(model: LanguageModel, opened: Callable[[Graph], Run]) -> Run:
    return opened(decoder_graph(model, CAPACITY))


class Sequences:
    """The caches of some sequences, and how far each is."""

    def __init__(self, decode: Run, model: LanguageModel, count: int) -> None:
        sizes = model.dimensions.decoder
        shape = (count, sizes.heads, CAPACITY, sizes.size // sizes.heads)
        self.caches = {
            f"{kind}_{layer}": np.zeros(shape, np.float32)
            for layer in range(sizes.layers)
            for kind in ("keys", "values")
        }
        self.lengths = np.zeros(count, np.int64)
        self._decode = decode

    def step(self, embeddings: Array, rows: slice = slice(None)) -> Array:
        found = self._decode(
            {
                "embeddings": embeddings,
                "lengths": self.lengths[rows],
                **{name: cache[rows] for name, cache in self.caches.items()},
            }
        )
        for name, cache in self.caches.items():
            cache[rows] = found[f"new_{name}"]
        self.lengths[rows] += embeddings.shape[1]
        return found["log_probabilities"]


def embedded(embed: Run, tokens: Array) -> Array:
    none = np.zeros((0, 192), np.float32)
    return embed({"tokens": tokens, "speakers": none})["token_embeddings"]


def test_checkpoint_is_loaded_exactly(model: LanguageModel) -> None:
    checkpoint = read_checkpoint(FOLDER / "llm.pt")
    parameters = dict(model.parameters())
    assert set(parameters) == set(checkpoint)
    for key, parameter in parameters.items():
        np.testing.assert_array_equal(parameter.array, checkpoint[key])


@pytest.mark.parametrize("case", CASES)
def test_text_is_encoded_as_upstream(encode: Run, case: str) -> None:
    recorded = recording("llm", case)
    tokens = np.concatenate([recorded["prompt_text"], recorded["text"]], axis=1)
    found = encode({"tokens": tokens.astype(np.int64)})["states"]
    assert greatest_difference(found, recorded["text_encoded"]) < TOLERANCE


def test_state_of_text_does_not_depend_on_what_follows(encode: Run) -> None:
    tokens = np.arange(5, 25)[None]
    whole, head = (
        encode({"tokens": part})["states"] for part in (tokens, tokens[:, :1])
    )
    assert greatest_difference(whole[:, :1], head) < TOLERANCE


@pytest.mark.parametrize("case", CASES)
def test_sequence_starts_as_upstream(encode: Run, embed: Run, case: str) -> None:
    recorded = recording("llm", case)
    tokens = np.concatenate([recorded["prompt_text"], recorded["text"]], axis=1)
    found = embed(
        {
            "tokens": recorded["prompt_speech_token"][0].astype(np.int64),
            "speakers": recorded["embedding"],
        }
    )
    start, task = np.split(found["marks"], 2)
    states = encode({"tokens": tokens.astype(np.int64)})["states"][0]
    speaker, speech = found["speaker_embeddings"], found["token_embeddings"]
    joined = np.concatenate([start, speaker, states, task, speech])
    assert greatest_difference(joined[None], recorded["lm_input"]) < TOLERANCE


@pytest.mark.parametrize("case", CASES)
def test_log_probabilities_are_those_of_upstream(
    model: LanguageModel, embed: Run, decode: Run, case: str
) -> None:
    recorded = recording("llm", case)
    sequence = Sequences(decode, model, 1)
    found = [sequence.step(recorded["lm_input"])]
    for forced in recorded["forced"][:-1]:
        found.append(sequence.step(embedded(embed, np.array([forced]))[None]))
    assert greatest_difference(np.concatenate(found), recorded["logp"]) < TOLERANCE


def test_prefill_in_pieces_is_prefill_at_once(
    model: LanguageModel, decode: Run
) -> None:
    recorded = recording("llm", "zero_shot")
    sequence = Sequences(decode, model, 1)
    for piece in np.split(recorded["lm_input"], [1, 9, 30], axis=1):
        found = sequence.step(piece)
    assert greatest_difference(found, recorded["logp"][:1]) < TOLERANCE


def test_batch_of_four_lengths_equals_four_single_sequences(
    model: LanguageModel, embed: Run, decode: Run
) -> None:
    starts: Sequence[Array] = [recording("llm", case)["lm_input"] for case in CASES]
    starts = [*starts, starts[1][:, :3]]
    forced = np.random.default_rng(1).integers(0, 512, (10, 4))
    batch = Sequences(decode, model, 4)
    singles = [Sequences(decode, model, 1) for _ in starts]
    for row, (start, single) in enumerate(zip(starts, singles, strict=True)):
        batch.step(start, slice(row, row + 1))
        single.step(start)
    for tokens in forced:
        embeddings = embedded(embed, tokens)[:, None]
        together = batch.step(embeddings)
        apart = [s.step(embeddings[row : row + 1]) for row, s in enumerate(singles)]
        assert greatest_difference(together, np.concatenate(apart)) < TOLERANCE
