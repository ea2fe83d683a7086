"""The language model's part of the engine, held to what the official code computed."""

from collections.abc import Sequence
from functools import partial
from typing import cast

import numpy as np
import pytest

from cosykit.engines.cosyvoice import decoding as module
from cosykit.engines.cosyvoice import open as opening
from cosykit.engines.cosyvoice.decoding import Decoding
from cosykit.engines.cosyvoice.installed import Installed
from cosykit.engines.cosyvoice.reading import LmPrompt, Reader
from cosykit.engines.cosyvoice.utterance import Utterance
from cosykit.seams import VocoderStream
from cosykit.synthesis.flow.chunks import WHOLE, Chunks, Hops
from cosykit.synthesis.flow.stream import FlowStream
from cosykit.synthesis.lm.length import LengthLimits
from cosykit.synthesis.lm.sampling import Choice
from cosykit.synthesis.text.pieces import TextPiece
from cosykit.types import Samples, Sampling
from tests.convert.recorded import greatest_difference, recording

CASES = ("plain", "zero_shot", "instruct")
TOLERANCE = 1e-4


@pytest.fixture(scope="module")
def reader(installed: Installed) -> Reader:
    open_embedding = partial(installed.open, "lm_embedding")
    return Reader(installed.open("text_encoder"), open_embedding, installed.facts)


def prompt_of(case: str) -> LmPrompt:
    recorded = recording("llm", case)
    return LmPrompt(
        recorded["embedding"][0] if recorded["embedding"].size else None,
        recorded["prompt_text"][0].astype(np.int64),
        recorded["prompt_speech_token"][0].astype(np.int64),
    )


def utterance_of(case: str) -> Utterance:
    text = recording("llm", case)["text"][0].astype(np.int64)
    return Utterance(
        piece=TextPiece(case, text),
        seed=(0, 0),
        limits=LengthLimits(0, 1000),
        sampling=Sampling(),
        chunks=Chunks(Hops(WHOLE)),
        flow=cast(FlowStream, None),
        vocoder=cast(VocoderStream, None),
    )


@pytest.mark.parametrize("case", CASES)
def test_prompt_is_read_as_by_upstream(reader: Reader, case: str) -> None:
    recorded, prompt = recording("llm", case), prompt_of(case)
    start = reader.start(prompt)
    rest = reader.rest(prompt, start, recorded["text"][0].astype(np.int64))
    found = np.concatenate([start.embeddings, rest])
    assert greatest_difference(found, recorded["lm_input"][0]) < TOLERANCE
    assert len(found) == prompt.steps(recorded["text"].size)


@pytest.mark.parametrize("company", [CASES, CASES[::-1], *((case,) for case in CASES)])
def test_tokens_are_weighed_as_by_upstream(
    installed: Installed,
    reader: Reader,
    company: Sequence[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoding = Decoding(opening._language_model(installed, 3), reader, 3)
    utterances = [utterance_of(case) for case in company]
    found: dict[str, list[Samples]] = {case: [] for case in company}
    beginning: list[Utterance] = []

    def forced(scores: Samples, choices: Sequence[Choice]) -> Sequence[int]:
        """Choose what was forced in the recording, and note what it was chosen by."""
        rows = beginning or decoding.utterances
        assert len(rows) == len(choices) == len(scores)
        for row, utterance in zip(scores, rows, strict=True):
            found[utterance.piece.text].append(row.copy())
        return [
            int(recording("llm", row.piece.text)["forced"][len(row.tokens)])
            for row in rows
        ]

    monkeypatch.setattr(module, "choose", forced)
    for utterance in utterances:
        beginning[:] = [utterance]
        decoding.begin(utterance, prompt_of(utterance.piece.text))
    beginning.clear()
    steps = len(recording("llm", "plain")["forced"])
    for _ in range(steps - 1):
        decoding.step()
    for case in company:
        wanted = recording("llm", case)["logp"]
        assert greatest_difference(np.stack(found[case]), wanted) < TOLERANCE
