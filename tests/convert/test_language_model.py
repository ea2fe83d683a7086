from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.checkpoint import read_checkpoint
from cosykit.convert.graph import Graph
from cosykit.convert.models.language_model import (
    LanguageModel,
    embedding_graph,
)
from cosykit.runtime.binding import BoundRun
from cosykit.runtime.blocks import Block
from cosykit.runtime.session import Session
from cosykit.synthesis.lm import decoder as decoder_module
from tests.convert.conftest import Run
from tests.convert.decoding import (
    Encode,
    Sequences,
    SessionOf,
    encoder_of,
    sequences_of,
)
from tests.convert.recorded import FOLDER, greatest_difference, recording

CASES = ("plain", "zero_shot", "instruct")
CAPACITY = 64
TOLERANCE = 1e-4

Array = NDArray[Any]
Memory = Mapping[str, Block | Array]


@pytest.fixture(scope="module")
def encode(model: LanguageModel, session_of: SessionOf) -> Encode:
    return encoder_of(model, session_of)


@pytest.fixture(scope="module")
def embed(model: LanguageModel, opened: Callable[[Graph], Run]) -> Run:
    return opened(embedding_graph(model))


@pytest.fixture(scope="module")
def sequences(model: LanguageModel, session_of: SessionOf) -> Sequences:
    return sequences_of(model, session_of, CAPACITY)


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
def test_text_is_encoded_as_upstream(encode: Encode, case: str) -> None:
    recorded = recording("llm", case)
    tokens = np.concatenate([recorded["prompt_text"], recorded["text"]], axis=1)
    assert greatest_difference(encode(tokens), recorded["text_encoded"]) < TOLERANCE


def test_state_of_text_does_not_depend_on_what_follows(encode: Encode) -> None:
    tokens = np.arange(5, 25)[None]
    whole, head = encode(tokens), encode(tokens[:, :1])
    assert greatest_difference(whole[:, :1], head) < TOLERANCE


def test_text_encoded_in_parts_is_text_encoded_at_once(encode: Encode) -> None:
    tokens = np.arange(5, 25)[None]
    parts = np.split(tokens, [1, 8], axis=1)
    assert greatest_difference(encode(*parts), encode(tokens)) < TOLERANCE


@pytest.mark.parametrize("case", CASES)
def test_sequence_starts_as_upstream(encode: Encode, embed: Run, case: str) -> None:
    recorded = recording("llm", case)
    tokens = np.concatenate([recorded["prompt_text"], recorded["text"]], axis=1)
    found = embed(
        {
            "tokens": recorded["prompt_speech_token"][0].astype(np.int64),
            "speakers": recorded["embedding"],
        }
    )
    start, task = np.split(found["marks"], 2)
    states = encode(tokens)[0]
    speaker, speech = found["speaker_embeddings"], found["token_embeddings"]
    joined = np.concatenate([start, speaker, states, task, speech])
    assert greatest_difference(joined[None], recorded["lm_input"]) < TOLERANCE


@pytest.mark.parametrize("case", CASES)
def test_log_probabilities_are_those_of_upstream(
    embed: Run, sequences: Sequences, case: str
) -> None:
    recorded = recording("llm", case)
    decoder = sequences(1)
    found = [decoder.begin(recorded["lm_input"][0])[1][None]]
    for forced in recorded["forced"][:-1]:
        found.append(decoder.step(embedded(embed, np.array([forced]))))
    assert greatest_difference(np.concatenate(found), recorded["logp"]) < TOLERANCE


def test_prefill_in_pieces_is_prefill_at_once(sequences: Sequences) -> None:
    recorded = recording("llm", "zero_shot")
    first, *rest = np.split(recorded["lm_input"][0], [1, 9, 30])
    decoder = sequences(1)
    slot, found = decoder.begin(first)
    for piece in rest:
        found = decoder.extend(slot, piece)
    assert greatest_difference(found, recorded["logp"][0]) < TOLERANCE
    assert decoder.kept(slot).count == recorded["lm_input"].shape[1]


def test_long_prompts_are_read_in_runs_of_some_frames(
    model: LanguageModel, session_of: SessionOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, bound = [], Session.bound

    def noting(self: Session, inputs: Memory, outputs: Memory) -> BoundRun:
        if "embeddings" in inputs:
            steps.append(inputs["embeddings"].shape[1])
        return bound(self, inputs, outputs)

    monkeypatch.setattr(Session, "bound", noting)
    random = np.random.default_rng(0)
    size = model.dimensions.decoder.inputs
    prompt = random.standard_normal((300, size)).astype(np.float32)
    in_runs = sequences_of(model, session_of, 512)(1).begin(prompt)[1]
    assert steps == [128, 128, 44]
    monkeypatch.setattr(decoder_module, "_READ_AT_ONCE", 1000)
    at_once = sequences_of(model, session_of, 512)(1).begin(prompt)[1]
    assert steps[3:] == [300]
    assert greatest_difference(in_runs, at_once) < TOLERANCE


def test_sequence_begun_with_kept_frames_is_one_read_whole(
    embed: Run, sequences: Sequences
) -> None:
    recorded = recording("llm", "zero_shot")
    first, rest = np.split(recorded["lm_input"][0], [9])
    decoder = sequences(2)
    slot, _ = decoder.begin(first)
    kept = decoder.kept(slot)
    decoder.extend(slot, embedded(embed, np.array([1, 2, 3])))
    slot, found = decoder.begin(rest, after=kept)
    assert greatest_difference(found, recorded["logp"][0]) < TOLERANCE
    assert decoder.kept(slot).count == recorded["lm_input"].shape[1]


def starts() -> Sequence[Array]:
    whole = [recording("llm", case)["lm_input"][0] for case in CASES]
    return [*whole, whole[1][:3]]


def test_batch_of_four_lengths_equals_four_single_sequences(
    embed: Run, sequences: Sequences
) -> None:
    batch = sequences(4)
    singles = [sequences(1) for _ in range(4)]
    for start, single in zip(starts(), singles, strict=True):
        _, together = batch.begin(start)
        assert greatest_difference(together, single.begin(start)[1]) < TOLERANCE
    for tokens in np.random.default_rng(1).integers(0, 512, (10, 4)):
        embeddings = embedded(embed, tokens)
        together = batch.step(embeddings)
        apart = [s.step(embeddings[row : row + 1]) for row, s in enumerate(singles)]
        assert greatest_difference(together, np.concatenate(apart)) < TOLERANCE


def test_sequence_is_not_disturbed_by_those_that_come_and_go(
    embed: Run, sequences: Sequences
) -> None:
    first, second, third, newcomer = starts()
    alone, shared = sequences(1), sequences(3)
    alone.begin(third)
    for start in (first, second, third):
        shared.begin(start)
    frames = embedded(embed, np.array([4, 5, 6, 7]))
    alone.step(frames[:1])
    shared.step(frames[[2, 1, 0]])
    assert shared.end(0) == 2  # the third moves into the slot of the first
    slot, _ = shared.begin(newcomer)
    assert (slot, shared.occupied) == (2, 3)
    for frame in frames[1:]:
        together = shared.step(np.stack([frame, frames[0], frames[0]]))
        assert greatest_difference(together[:1], alone.step(frame[None])) < TOLERANCE


def test_more_than_fits_is_refused(model: LanguageModel, sequences: Sequences) -> None:
    decoder = sequences(1)
    size = model.dimensions.decoder.inputs
    decoder.begin(np.zeros((CAPACITY, size), np.float32))
    with pytest.raises(RuntimeError, match="does not fit"):
        decoder.step(np.zeros((1, size), np.float32))
    with pytest.raises(RuntimeError, match="occupied"):
        decoder.begin(np.zeros((1, size), np.float32))


def test_sequence_goes_on_where_the_first_table_of_distances_ends(
    model: LanguageModel, session_of: SessionOf
) -> None:
    sequences = sequences_of(model, session_of, capacity=700)
    size = model.dimensions.decoder.inputs
    frames = np.random.default_rng(2).standard_normal((530, size)).astype(np.float32)
    stepping, at_once = sequences(1), sequences(1)
    stepping.begin(frames[:500])
    for frame in frames[500:]:
        found = stepping.step(frame[None])
    _, wanted = at_once.begin(frames)
    assert greatest_difference(found[0], wanted) < TOLERANCE
