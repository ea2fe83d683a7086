"""The engine speaks many requests at once, and each as if it were alone."""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from cosykit.config.schema import EngineSettings, Settings
from cosykit.engines.cosyvoice import engine as engine_module
from cosykit.engines.cosyvoice import open as opening
from cosykit.engines.cosyvoice import preparing
from cosykit.engines.cosyvoice.decoding import Decoding
from cosykit.engines.cosyvoice.engine import CosyVoiceEngine, Stages
from cosykit.engines.cosyvoice.installed import find_installed
from cosykit.engines.cosyvoice.next_parts import NextParts
from cosykit.engines.cosyvoice.open import open_engine
from cosykit.engines.cosyvoice.reading import LmPrompt
from cosykit.engines.cosyvoice.rendering import Rendering, Spoken
from cosykit.engines.cosyvoice.speech import Speech
from cosykit.engines.cosyvoice.utterance import Utterance
from cosykit.errors import (
    ComputationError,
    InputError,
    ModelLoadError,
    NotFoundError,
    OutOfMemoryError,
)
from cosykit.hub.bundle import MANIFEST
from cosykit.seams import BatchEngine, Counting, Engine
from cosykit.spec import GRAPHS_VERSION
from cosykit.synthesis.lm.decoder import LanguageModel
from cosykit.synthesis.lm.length import LengthLimits
from cosykit.types import AudioChunk, Samples, SpeechRequest
from tests.convert.recorded import FOLDER

TEXT = "今天天气很好，我们去公园散步。"
LONG = "第一句话说的是春天。" * 12


def spoken(engine: CosyVoiceEngine, request: SpeechRequest) -> Samples:
    return np.concatenate([chunk.samples for chunk in engine.synthesize(request)])


def together(
    engine: CosyVoiceEngine, requests: Sequence[SpeechRequest]
) -> dict[str, list[AudioChunk]]:
    """Speak requests in one batch."""
    for request in requests:
        engine.begin(request)
    chunks: dict[str, list[AudioChunk]] = {each.request_id: [] for each in requests}
    while engine.under_way:
        for progress in engine.step():
            assert not isinstance(progress.outcome, BaseException)
            if progress.outcome:
                chunks[progress.request_id].append(progress.outcome)
    return chunks


def test_engine_keeps_both_protocols(engine: CosyVoiceEngine) -> None:
    assert isinstance(engine, Engine)
    assert isinstance(engine, BatchEngine)
    assert isinstance(engine, Counting)
    assert engine.info.precision == "fp32"
    assert engine.sample_rate == 22_050
    assert {voice.id for voice in engine.voices()} >= {"zh_female", "en_male"}


def test_same_seed_gives_the_same_samples(engine: CosyVoiceEngine) -> None:
    first, again, other = (
        spoken(engine, SpeechRequest(TEXT, seed=seed)) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert first.size != other.size or not np.allclose(first, other)


@pytest.mark.parametrize("whole", [False, True])
def test_text_is_spoken_in_order_and_told_once(
    engine: CosyVoiceEngine, whole: bool
) -> None:
    request = SpeechRequest(LONG, seed=1, whole=whole)
    chunks = list(engine.synthesize(request))
    assert "".join(chunk.text for chunk in chunks).count("春天") == 12
    assert all(chunk.samples.size for chunk in chunks)


def test_speed_changes_the_length(engine: CosyVoiceEngine) -> None:
    usual, fast = (
        spoken(engine, SpeechRequest(TEXT, seed=1, speed=speed)).size
        for speed in (1.0, 2.0)
    )
    assert fast == pytest.approx(usual / 2, rel=0.02)


def test_batch_gives_each_what_it_gets_alone(engine: CosyVoiceEngine) -> None:
    texts = (TEXT, "你好。", LONG, "Good morning, everyone.")
    requests = [SpeechRequest(text, seed=n) for n, text in enumerate(texts)]
    chunks = together(engine, requests)
    for request in requests:
        in_batch = np.concatenate([c.samples for c in chunks[request.request_id]])
        alone = spoken(engine, request)
        assert in_batch.size == alone.size
        assert np.abs(in_batch - alone).max() < 1e-3


def test_more_requests_than_slots_are_all_spoken(engine: CosyVoiceEngine) -> None:
    requests = [SpeechRequest(TEXT, seed=n) for n in range(9)]
    assert all(together(engine, requests).values())


def test_newcomer_has_a_part_in_the_next_step(
    engine: CosyVoiceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    step = Decoding.step

    def counted(decoding: Decoding) -> None:
        sizes.append(len(decoding.utterances))
        step(decoding)

    monkeypatch.setattr(Decoding, "step", counted)
    old, new = SpeechRequest(TEXT, seed=1), SpeechRequest(TEXT, seed=2)
    engine.begin(old)
    engine.step()
    engine.begin(new)
    engine.step()
    assert sizes == [1, 2]
    engine.cancel(old.request_id)
    engine.step()
    assert sizes[2:] == [1]
    engine.cancel(new.request_id)


def heard_in(engine: CosyVoiceEngine, *resting: SpeechRequest) -> list[str]:
    """Take a step and name those who got audio."""
    told = engine.step({request.request_id for request in resting})
    return [each.request_id for each in told if isinstance(each.outcome, AudioChunk)]


def test_newcomer_comes_before_those_who_hear_something(
    engine: CosyVoiceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = [0]
    decode = Decoding.step

    def counted(decoding: Decoding) -> None:
        tokens[-1] += 1
        decode(decoding)

    monkeypatch.setattr(Decoding, "step", counted)
    old, new = SpeechRequest(LONG, seed=1), SpeechRequest(LONG, seed=2)
    engine.begin(old)
    while not heard_in(engine):
        pass
    # Then it has all of its tokens.
    for _ in range(400):
        heard_in(engine, old)
    engine.begin(new)
    order: list[str] = []
    while new.request_id not in order:
        tokens.append(0)
        order += heard_in(engine)
    assert order == [old.request_id, new.request_id]
    assert max(tokens[1:]) == 8, "while others hear"
    assert tokens[-2:] == [0, 0], "while it is rendered itself"
    for request in (old, new):
        engine.cancel(request.request_id)
    engine.step()


def test_those_who_hear_something_take_turns(engine: CosyVoiceEngine) -> None:
    requests = [SpeechRequest(LONG, seed=seed) for seed in (1, 2)]
    heard = set[str]()
    for request in requests:
        engine.begin(request)
    while len(heard) < 2:
        heard |= set(heard_in(engine))
    for _ in range(400):
        heard_in(engine, *requests)
    order: list[str] = []
    while engine.under_way:
        order += heard_in(engine)
    first, second, third = order[:3]
    assert first == third != second


@pytest.mark.parametrize(("whole", "most"), [(True, 4), (False, 2)])
def test_slots_go_to_who_waits_for_all_of_the_speech(
    engine: CosyVoiceEngine, monkeypatch: pytest.MonkeyPatch, whole: bool, most: int
) -> None:
    sizes: list[int] = []
    heard_at: list[int] = []
    decode = Decoding.step

    def counted(decoding: Decoding) -> None:
        sizes.append(len(decoding.utterances))
        decode(decoding)

    monkeypatch.setattr(Decoding, "step", counted)
    request = SpeechRequest(LONG * 3, seed=1, whole=whole)
    engine.begin(request)
    while len(heard_at) < 4:
        if heard_in(engine):
            heard_at.append(len(sizes))
    engine.cancel(request.request_id)
    engine.step()
    assert max(sizes) == most
    assert max(sizes[: heard_at[0]]) == (most if whole else 1)


def test_first_line_of_one_goes_before_the_second_of_another(
    engine: CosyVoiceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    begin = Decoding.begin

    def noting(decoding: Decoding, utterance: Utterance, prompt: LmPrompt) -> None:
        begun.append(utterance.piece.text)
        begin(decoding, utterance, prompt)

    monkeypatch.setattr(Decoding, "begin", noting)
    requests = SpeechRequest(LONG * 5, whole=True), SpeechRequest(TEXT)
    for request in requests:
        engine.begin(request)
    engine.step()
    engine.step()
    assert begun[1] == TEXT
    for request in requests:
        engine.cancel(request.request_id)
    engine.step()


def test_cancelled_request_is_not_told_of_any_more(engine: CosyVoiceEngine) -> None:
    kept, left = SpeechRequest(TEXT, seed=1), SpeechRequest(LONG, seed=2)
    for request in (left, kept):
        engine.begin(request)
    told: list[str] = []
    while left.request_id not in told:
        told += [progress.request_id for progress in engine.step()]
    engine.cancel(left.request_id)
    after: list[str] = []
    while engine.under_way:
        after += [progress.request_id for progress in engine.step()]
    assert left.request_id not in after
    assert engine.under_way == 0


def test_resting_request_begins_nothing_new(engine: CosyVoiceEngine) -> None:
    request = SpeechRequest(TEXT, seed=1)
    engine.begin(request)
    before = engine.times.seconds["lm_prefill"]
    assert engine.step({request.request_id}) == ()
    assert engine.times.seconds["lm_prefill"] == before
    engine.cancel(request.request_id)


def test_listeners_that_pull_get_their_own(engine: CosyVoiceEngine) -> None:
    requests = [SpeechRequest(LONG, seed=n) for n in range(2)]
    streams = [engine.synthesize(request) for request in requests]
    pieces: list[list[Samples]] = [[], []]
    while any(streams):
        for stream, mine in zip(streams, pieces, strict=True):
            if chunk := next(stream, None):
                mine.append(chunk.samples)
        if not any(len(mine) < 3 for mine in pieces):
            break
    for stream, mine in zip(streams, pieces, strict=True):
        mine += [chunk.samples for chunk in stream]
    for request, mine in zip(requests, pieces, strict=True):
        alone = spoken(engine, request)
        assert np.abs(np.concatenate(mine) - alone).max() < 1e-3


def forbid_ends(monkeypatch: pytest.MonkeyPatch, tokens: int) -> None:
    """Have every utterance run out of room after some tokens."""

    def limits(text_tokens: int) -> LengthLimits:
        return LengthLimits(tokens, tokens)

    monkeypatch.setattr(preparing, "limits_of", limits)


def test_runaway_is_begun_anew_once_and_told(
    engine: CosyVoiceEngine,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    forbid_ends(monkeypatch, 40)
    before = engine.runaways
    assert spoken(engine, SpeechRequest(TEXT, seed=1)).size
    assert engine.runaways == before + 2
    told = [record.message for record in caplog.records]
    assert [message.rpartition(" ")[2] for message in told] == ["again", "tokens"]
    assert TEXT not in caplog.text


def test_runaway_that_cannot_begin_anew_fails_alone(
    engine: CosyVoiceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbid_ends(monkeypatch, 40)
    poor, kept = (SpeechRequest(TEXT, seed=seed) for seed in (1, 2))
    prefill = engine_module._prefill

    def lacking(stages: Stages, speech: Speech, utterance: Utterance) -> None:
        if speech.name == poor.request_id and utterance.attempt:
            raise MemoryError
        prefill(stages, speech, utterance)

    monkeypatch.setattr(engine_module, "_prefill", lacking)
    outcomes: dict[str, list[AudioChunk | BaseException | None]] = {}
    for request in (poor, kept):
        engine.begin(request)
        outcomes[request.request_id] = []
    while engine.under_way:
        for progress in engine.step():
            outcomes[progress.request_id].append(progress.outcome)
    (failure,) = outcomes[poor.request_id]
    assert isinstance(failure, MemoryError)
    *chunks, end = outcomes[kept.request_id]
    assert chunks
    assert end is None


def test_runaway_that_is_heard_already_is_cut(
    engine: CosyVoiceEngine,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    forbid_ends(monkeypatch, 200)
    samples = spoken(engine, SpeechRequest(TEXT, seed=1))
    assert samples.size == pytest.approx(4 * engine.sample_rate, rel=0.01)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_forced_tokens_are_no_runaway(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    engine = open_engine(settings.model, settings, forced_tokens=50)
    samples = spoken(engine, SpeechRequest(TEXT))
    assert samples.size == pytest.approx(engine.sample_rate, rel=0.02)
    assert not caplog.records
    engine.close()


def test_chunks_of_the_schedule_of_upstream_are_as_long_as_its_own(
    settings: Settings,
) -> None:
    with np.load(FOLDER / "stream_sft.npz") as official:
        tokens = official["token"].size
        sizes = [official[f"audio{number}"].size for number in range(4)]
    as_upstream = {"engine": EngineSettings(schedule="upstream")}
    engine = open_engine(
        settings.model, settings.model_copy(update=as_upstream), forced_tokens=tokens
    )
    chunks = list(engine.synthesize(SpeechRequest("你好。", seed=1)))
    assert [chunk.samples.size for chunk in chunks] == sizes
    engine.close()


def test_cancelled_request_is_not_rendered_any_more(engine: CosyVoiceEngine) -> None:
    request = SpeechRequest(LONG, seed=1)
    engine.begin(request)
    others_s = engine.times.seconds["flow"]
    while engine.times.seconds["flow"] == others_s:
        engine.step()
    engine.cancel(request.request_id)
    before = dict(engine.times.seconds)
    engine.step()
    assert engine.times.seconds["flow"] == before["flow"]
    assert engine.times.seconds["vocoder"] == before["vocoder"]


def test_request_that_cannot_begin_fails_alone_and_frees_its_slot(
    engine: CosyVoiceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, poor = SpeechRequest(TEXT, seed=1), SpeechRequest("你好。", seed=2)
    engine.begin(kept)
    engine.step()
    engine.begin(poor)
    with monkeypatch.context() as patch:

        def run_out(model: LanguageModel, slot: int, embeddings: object) -> None:
            raise MemoryError

        patch.setattr(LanguageModel, "extend", run_out)
        (failed,) = engine.step()
    assert failed.request_id == poor.request_id
    assert isinstance(failed.outcome, MemoryError)
    pieces: list[Samples] = []
    while engine.under_way:
        for progress in engine.step():
            assert progress.request_id == kept.request_id
            if isinstance(progress.outcome, AudioChunk):
                pieces.append(progress.outcome.samples)
    assert np.abs(np.concatenate(pieces) - spoken(engine, kept)).max() < 1e-3


def test_bug_in_a_step_ends_all_and_the_engine_goes_on(
    engine: CosyVoiceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(NextParts, "take", None)
        with pytest.raises(TypeError):
            spoken(engine, SpeechRequest(TEXT))
    assert engine.under_way == 0
    assert spoken(engine, SpeechRequest(TEXT)).size


def test_bug_is_told_to_everyone_who_pulls(
    engine: CosyVoiceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = [engine.synthesize(SpeechRequest(LONG, seed=n)) for n in range(2)]
    for stream in streams:
        next(stream)

    def fail(*speeches: object, **which: object) -> None:
        raise RuntimeError("a bug")

    with monkeypatch.context() as patch:
        patch.setattr(NextParts, "take", fail)
        with pytest.raises(RuntimeError, match="a bug"):
            list(streams[0])
    # What is lost is not to be waited for.
    monkeypatch.setattr(engine, "step", None)
    with pytest.raises(RuntimeError, match="a bug"):
        list(streams[1])


def test_request_whose_numbers_break_fails_alone(
    engine: CosyVoiceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound, broken, after = (SpeechRequest(TEXT, seed=seed) for seed in (1, 2, 2))
    alone = [spoken(engine, request) for request in (sound, after)]
    step = LanguageModel.step

    def breaking(model: LanguageModel, embeddings: Samples) -> Samples:
        if model.occupied == 2:
            embeddings[1] = np.nan
            monkeypatch.undo()
        return step(model, embeddings)

    monkeypatch.setattr(LanguageModel, "step", breaking)
    for request in (sound, broken):
        engine.begin(request)
    outcomes: dict[str, list[AudioChunk | BaseException | None]] = {
        request.request_id: [] for request in (sound, broken)
    }
    while engine.under_way:
        for progress in engine.step():
            outcomes[progress.request_id].append(progress.outcome)
    (failure,) = outcomes[broken.request_id]
    assert isinstance(failure, ComputationError)
    chunks = [o for o in outcomes[sound.request_id] if isinstance(o, AudioChunk)]
    heard = np.concatenate([chunk.samples for chunk in chunks])
    np.testing.assert_allclose(heard, alone[0], atol=1e-4)
    # Another has the slot in which they broke.
    heard_after = together(engine, [sound, after])[after.request_id]
    samples = np.concatenate([chunk.samples for chunk in heard_after])
    np.testing.assert_allclose(samples, alone[1], atol=1e-4)


def test_want_of_memory_ends_those_that_are_rendered_and_no_others(
    engine: CosyVoiceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, later = (SpeechRequest(TEXT, seed=seed) for seed in (1, 2))
    alone = spoken(engine, later)
    step = Rendering.step

    def lacking(rendering: Rendering) -> Spoken | None:
        monkeypatch.setattr(Rendering, "step", step)
        engine.begin(later)
        raise OutOfMemoryError

    monkeypatch.setattr(Rendering, "step", lacking)
    engine.begin(first)
    outcomes: dict[str, list[AudioChunk | BaseException | None]] = {
        request.request_id: [] for request in (first, later)
    }
    while engine.under_way:
        for progress in engine.step():
            outcomes[progress.request_id].append(progress.outcome)
    (failure,) = outcomes[first.request_id]
    assert isinstance(failure, OutOfMemoryError)
    chunks = [o for o in outcomes[later.request_id] if isinstance(o, AudioChunk)]
    np.testing.assert_array_equal(np.concatenate([c.samples for c in chunks]), alone)


def test_closed_engine_says_so(settings: Settings) -> None:
    engine = open_engine(settings.model, settings)
    engine.close()
    with pytest.raises(ModelLoadError, match="closed"):
        engine.begin(SpeechRequest(TEXT))


def test_more_slots_than_memory_has_room_for_are_refused_with_what_fits(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = find_installed(settings.model, settings).facts
    slot_bytes = 8 * facts.positions * facts.layers * facts.heads * facts.head_size
    monkeypatch.setattr(opening, "usable_memory_bytes", lambda: 7 * slot_bytes // 2)
    with pytest.raises(ModelLoadError, match="4 requests at once can take") as refused:
        open_engine(settings.model, settings)
    assert "engine.batch_size to 3 " in refused.value.hint
    three = {"engine": EngineSettings(batch_size=3)}
    open_engine(settings.model, settings.model_copy(update=three)).close()


def test_graphs_of_another_version_are_refused(
    settings: Settings, tmp_path: Path
) -> None:
    folder = tmp_path / settings.model
    folder.mkdir()
    manifest = (settings.models_dir / settings.model / MANIFEST).read_text()
    current = f'"graphs_version": {GRAPHS_VERSION}'
    assert current in manifest
    (folder / MANIFEST).write_text(manifest.replace(current, '"graphs_version": 0'))
    with pytest.raises(ModelLoadError, match="another version") as refused:
        open_engine(
            settings.model, settings.model_copy(update={"models_dir": tmp_path})
        )
    assert "--repair" in refused.value.hint


@pytest.mark.parametrize("text", ["", "  \n", "。。。！", "🙂🙂"])
def test_nothing_to_say_is_an_error(engine: CosyVoiceEngine, text: str) -> None:
    with pytest.raises(InputError):
        spoken(engine, SpeechRequest(text))


def test_unknown_voice_is_an_error(engine: CosyVoiceEngine) -> None:
    with pytest.raises(NotFoundError, match="unknown voice 'nobody'"):
        spoken(engine, SpeechRequest(TEXT, voice="nobody"))
