"""What stands before a text is read once for each voice."""

import numpy as np
import pytest

from cosykit.engines.cosyvoice.engine import CosyVoiceEngine
from cosykit.errors import ComputationError
from cosykit.synthesis.lm.cache import KeptFrames
from cosykit.synthesis.lm.decoder import LanguageModel
from cosykit.types import Recording, Samples, SpeechRequest

TEXT = "今天天气很好。"


class Reading:
    """Notes how many frames each sequence begins with, kept ones and read ones."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[tuple[int, int]] = []
        begin = LanguageModel.begin

        def noting(
            model: LanguageModel,
            embeddings: Samples,
            after: KeptFrames | None = None,
        ) -> tuple[int, Samples]:
            self.begun.append((after.count if after else 0, len(embeddings)))
            return begin(model, embeddings, after)

        monkeypatch.setattr(LanguageModel, "begin", noting)


def samples_of(engine: CosyVoiceEngine, request: SpeechRequest) -> Samples:
    return np.concatenate([chunk.samples for chunk in engine.synthesize(request)])


def test_instructions_are_read_once(
    engine: CosyVoiceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = Reading(monkeypatch)
    first, again, _ = (
        samples_of(engine, SpeechRequest(TEXT, instructions=words, seed=1))
        for words in ("Speak slowly", "Speak slowly", "Speak up")
    )
    (nothing, start), (kept, rest), second, (anew, shorter), third = reading.begun
    assert (nothing, kept) == (0, start)
    assert second == (kept, rest)
    assert (anew, third) == (0, (shorter, rest))
    np.testing.assert_array_equal(first, again)


def test_transcript_is_read_once_and_the_speech_after_every_text(
    engine: CosyVoiceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(1)
    samples = random.uniform(-0.3, 0.3, 3 * 16_000).astype(np.float32)
    prompt = Recording(samples, 16_000, "你好，世界。")
    reading = Reading(monkeypatch)
    for text in (TEXT, TEXT * 2):
        samples_of(engine, SpeechRequest(text, prompt=prompt, seed=1))
    (_, start), (kept, rest), (kept_again, longer) = reading.begun
    assert kept == kept_again == start
    assert longer > rest > 3 * 50


def test_built_in_voice_is_read_in_one_run(
    engine: CosyVoiceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = Reading(monkeypatch)
    samples_of(engine, SpeechRequest(TEXT, seed=1))
    assert [kept for kept, _ in reading.begun] == [0]


def test_beginning_that_breaks_is_not_kept_for_others(
    engine: CosyVoiceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = LanguageModel.begin

    def breaking(
        model: LanguageModel, embeddings: Samples, after: KeptFrames | None = None
    ) -> tuple[int, Samples]:
        slot, scores = begin(model, embeddings, after)
        return slot, scores * np.float32(np.nan)

    request = SpeechRequest(TEXT, instructions="Speak as if it broke", seed=1)
    with monkeypatch.context() as patch:
        patch.setattr(LanguageModel, "begin", breaking)
        with pytest.raises(ComputationError):
            samples_of(engine, request)
    reading = Reading(monkeypatch)
    assert samples_of(engine, request).size
    assert [kept for kept, _ in reading.begun] == [0, reading.begun[0][1]]
