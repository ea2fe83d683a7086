"""The embedded voice speaks, in pieces, repeatably, and can be stopped."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Literal, cast

import numpy as np
import onnx
import pytest

from cosykit.config.schema import (
    RuntimeSettings,
    Settings,
    TextSettings,
)
from cosykit.engines.lite import engine as engine_module
from cosykit.engines.lite.engine import LiteEngine
from cosykit.engines.lite.reader import Reader
from cosykit.engines.open import load
from cosykit.engines.synthesizer import Synthesizer
from cosykit.errors import InputError, ModelLoadError, NotFoundError
from cosykit.hub.bundle import Bundle, read_bundle, write_manifest
from cosykit.hub.verify import digest_of
from cosykit.runtime.session import Session, SessionSettings, open_session
from cosykit.types import Samples, SpeechRequest

LONG = (
    "清晨的阳光洒在安静的街道上，早点铺的老板正忙着招呼客人。"
    "一个背着书包的小女孩站在路口，等妈妈买完豆浆和油条。"
)


@pytest.fixture(scope="module")
def tts(lite_models: Path) -> Iterator[Synthesizer]:
    with load("lite", Settings(models_dir=lite_models)) as loaded:
        yield loaded


def test_info_tells_what_runs(tts: Synthesizer) -> None:
    info = tts.info
    assert (info.model, info.provider, info.precision) == ("lite", "cpu", "int8")
    assert info.threads >= 1


@pytest.mark.parametrize(
    "text", ["今天天气很好。", "The weather is lovely today.", "今日はいい天気ですね。"]
)
def test_text_becomes_speech_of_a_sensible_length(tts: Synthesizer, text: str) -> None:
    audio = tts.synthesize(text)
    assert audio.sample_rate == 24_000
    assert 1.0 < audio.duration_s < 4.0
    assert 0.05 < np.abs(audio.samples).max() < 1.0


def test_same_request_gives_the_same_samples(tts: Synthesizer) -> None:
    first, second = (tts.synthesize("你好，世界。").samples for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize(
    "text", ["你好，世界。\n", " \n\t你好，世界。", "你好，世界。\u3000\r\n "]
)
def test_spaces_around_a_text_are_not_heard(tts: Synthesizer, text: str) -> None:
    plain, spaced = (tts.synthesize(each).samples for each in (text.strip(), text))
    assert np.array_equal(plain, spaced)


def test_first_piece_is_short_and_the_joins_are_silent(tts: Synthesizer) -> None:
    chunks = list(tts.stream(LONG))
    assert len(chunks) > 2
    assert chunks[0].duration_s < 4.0
    for chunk in chunks[:-1]:
        assert np.abs(chunk.samples[-48:]).max() < 0.01
    assert "".join(chunk.text for chunk in chunks) == LONG


def test_speed_changes_the_tempo(tts: Synthesizer) -> None:
    slow, normal, fast = (
        tts.synthesize("今天天气很好。", speed=speed).duration_s
        for speed in (0.5, 1.0, 2.0)
    )
    assert slow == pytest.approx(2 * normal, rel=0.2)
    assert fast == pytest.approx(normal / 2, rel=0.25)


def test_loud_speech_stays_below_full_scale(tts: Synthesizer) -> None:
    audio = tts.synthesize("你好！", volume=4.0)
    assert 0.9 < np.abs(audio.samples).max() < 1.0


def test_unknown_voice_is_refused(tts: Synthesizer) -> None:
    with pytest.raises(NotFoundError, match="zf_xiaoxiao"):
        tts.synthesize("你好", voice="zf_xiaoxia")


@pytest.mark.parametrize("text", ["", "  \n", "。。。！？", "😀🎉"])
def test_text_without_words_is_refused(tts: Synthesizer, text: str) -> None:
    with pytest.raises(InputError):
        tts.synthesize(text)


@pytest.mark.parametrize("speed", [0.0, 0.2, 9.0, float("nan")])
def test_speed_out_of_range_is_refused(tts: Synthesizer, speed: float) -> None:
    with pytest.raises(InputError, match="speed"):
        tts.synthesize("你好", speed=speed)


def test_cancel_ends_a_run_from_another_thread(tts: Synthesizer) -> None:
    request = SpeechRequest(LONG * 20)
    chunks = tts.stream_request(request)
    next(chunks)
    canceller = threading.Timer(0.05, tts.engine.cancel, args=(request.request_id,))
    canceller.start()
    rest = list(chunks)
    canceller.join()
    assert sum(chunk.duration_s for chunk in rest) < 30
    assert tts.synthesize("还能说话。").duration_s > 0.5


def test_users_readings_are_spoken(lite_models: Path, tts: Synthesizer) -> None:
    text = TextSettings(pronunciations={"重庆": "zhong4 qing4"})
    usual = tts.synthesize("重庆").samples
    with load("lite", Settings(models_dir=lite_models, text=text)) as other:
        own = other.synthesize("重庆").samples
    assert usual.shape != own.shape or not np.array_equal(usual, own)


def test_threads_are_the_configured_ones(lite_models: Path) -> None:
    settings = Settings(models_dir=lite_models, runtime=RuntimeSettings(threads=1))
    with load("lite", settings) as single:
        assert single.info.threads == 1


def test_tables_are_loaded_with_the_model_and_may_fail(
    lite_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = threading.Event()

    def fail(reader: Reader) -> None:
        tried.set()
        raise RuntimeError("a plug-in of a front end does not like the text")

    monkeypatch.setattr(Reader, "load_tables", fail)
    with load("lite", Settings(models_dir=lite_models)) as opened:
        assert tried.is_set()
        assert opened.synthesize("你好").duration_s > 0.3


@pytest.mark.parametrize("voice", ["zf_xiaoxiao", "am_michael"])
def test_english_in_chinese_is_spoken_between_its_pauses(
    tts: Synthesizer, voice: str
) -> None:
    samples = tts.synthesize("他在 New York 住了三年。", voice=voice).samples
    silent = "".join("01"[int(sample == 0)] for sample in samples[: -24_000 // 2])
    pauses = [run for run in silent.split("0") if len(run) > 0.05 * 24_000]
    assert len(pauses) == 2
    assert 1.5 < samples.size / 24_000 < 5.0


def test_graph_that_gives_no_durations_is_told_to_be_old(
    lite_models: Path, tmp_path: Path
) -> None:
    bundle = read_bundle(lite_models, "lite")
    assert bundle
    model = onnx.load(bundle.graph("int8", "kokoro.onnx"))
    del model.graph.output[1:]
    graph = tmp_path / "lite" / "int8" / "kokoro.onnx"
    graph.parent.mkdir(parents=True)
    graph.write_bytes(model.SerializeToString())
    graphs = {"int8/kokoro.onnx": digest_of(graph)}
    write_manifest(tmp_path, bundle.manifest.model_copy(update={"graphs": graphs}))
    with pytest.raises(ModelLoadError, match="older CosyKit"):
        load("lite", Settings(models_dir=tmp_path))


def test_changed_graph_is_not_loaded(lite_models: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(lite_models / "lite", tmp_path / "lite")
    graph = tmp_path / "lite" / "int8" / "kokoro.onnx"
    content = bytearray(graph.read_bytes())
    content[len(content) // 2] ^= 1
    graph.write_bytes(content)
    with pytest.raises(ModelLoadError, match="cosykit install lite --repair"):
        load("lite", Settings(models_dir=tmp_path))


def test_closed_engine_says_so(lite_models: Path) -> None:
    tts = load("lite", Settings(models_dir=lite_models))
    tts.close()
    with pytest.raises(ModelLoadError, match="closed"):
        tts.synthesize("你好")


def raw(tts: Synthesizer, text: str) -> Samples:
    """Speak a text in the thread that asks."""
    chunks = tts.engine.synthesize(SpeechRequest(text))
    return np.concatenate([chunk.samples for chunk in chunks])


def test_requests_in_company_sound_as_alone_and_have_a_thread_each(
    lite_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []

    def counting(graph: Path, how: SessionSettings) -> Session:
        opened.append(how.threads)
        return open_session(graph, how)

    monkeypatch.setattr(engine_module, "open_session", counting)
    settings = Settings(models_dir=lite_models, runtime=RuntimeSettings(threads=2))
    texts = ["你好。", "Hello there.", "开一个meeting。"]
    with load("lite", settings) as tts:
        alone = [raw(tts, text) for text in texts]
        assert opened == [2]
        with ThreadPoolExecutor(max_workers=3) as beside:
            together = list(beside.map(partial(raw, tts), texts))
    assert opened == [2, 1]
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("parallel", "threads"), [("auto", 1), (2, 4), (3, 2), (9, 1), (1, None)]
)
def test_requests_in_company_share_the_threads(
    lite_models: Path, parallel: int | Literal["auto"], threads: int | None
) -> None:
    how = SessionSettings("cpu", threads=8)
    bundle = read_bundle(lite_models, "lite")
    assert bundle
    opening = engine_module._for_company(bundle, how, parallel)
    assert (opening and cast("partial[Session]", opening).args[1].threads) == threads


def test_requests_share_a_session_where_no_other_can_be_opened(
    lite_models: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(models_dir=lite_models, runtime=RuntimeSettings(threads=2))
    with load("lite", settings) as tts:

        def failing() -> Session:
            raise ModelLoadError("there is no memory left")

        sessions = cast(LiteEngine, tts.engine)._sessions
        monkeypatch.setattr(sessions, "_for_company", failing)
        with ThreadPoolExecutor(max_workers=3) as beside:
            spoken = list(beside.map(partial(raw, tts), ["你好。"] * 3))
    assert all(samples.size for samples in spoken)
    assert caplog.text.count("no memory left") == 1


def test_graph_that_was_changed_under_an_engine_is_not_opened(
    lite_models: Path, tmp_path: Path
) -> None:
    installed = read_bundle(lite_models, "lite")
    assert installed
    bundle = Bundle(tmp_path, installed.manifest)
    graph = tmp_path / "int8" / "kokoro.onnx"
    graph.parent.mkdir()
    graph.write_bytes(b"another")
    opening = engine_module._for_company(bundle, SessionSettings("cpu", 2), "auto")
    assert opening
    with pytest.raises(ModelLoadError, match="lite was changed or removed"):
        opening()


def test_one_of_several_that_are_spoken_is_cancelled(
    tts: Synthesizer,
) -> None:
    begun = threading.Barrier(2)
    requests = [SpeechRequest(LONG[: LONG.index("。") + 1]) for _ in range(2)]

    def speak(request: SpeechRequest) -> int:
        chunks = tts.engine.synthesize(request)
        next(chunks)
        begun.wait(20)
        if request is requests[1]:
            tts.engine.cancel(requests[0].request_id)
        return 1 + len(list(chunks))

    with ThreadPoolExecutor(max_workers=2) as beside:
        cut, whole = beside.map(speak, requests)
    assert cut < whole
