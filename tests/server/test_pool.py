"""Any installed model in a request: loaded when wanted, unloaded when idle."""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from cosykit.config.schema import Settings
from cosykit.engines.footprint import Footprint
from cosykit.engines.synthesizer import Synthesizer
from cosykit.errors import BusyError, CosykitError, ModelLoadError, ResourceError
from cosykit.hub.bundle import MANIFEST
from cosykit.server import loading, pool
from cosykit.server.exchange import Serving
from cosykit.server.loading import Loader
from cosykit.server.pool import ModelPool
from tests.patience import PATIENCE_S, until_soon
from tests.server.conftest import Running, running, settings_for
from tests.synthesis.counting_engine import CountingEngine

SPEECH = "/v1/audio/speech"
# Of 1000 MB the configured model takes 100.
CONFIGURED_MB, LIMIT_MB = 100, 1000


@dataclass(slots=True)
class Models:
    """Stands in for what is installed: counting engines of a given size.

    Attributes:
        sizes_mb: What each model takes.
        broken: What loading a model raises.
        gate: Opened, loads go on.
        loaded: The models that were loaded, in order.
        closed: Those whose engines were closed.
    """

    sizes_mb: dict[str, int]
    broken: dict[str, BaseException] = field(default_factory=dict)
    gate: threading.Event = field(default_factory=threading.Event)
    loaded: list[str] = field(default_factory=list)
    engines: dict[str, CountingEngine] = field(default_factory=dict)
    at_once: int = 0

    def load(self, model: None, settings: Settings) -> Synthesizer:
        self.at_once += 1
        assert self.at_once == 1
        assert self.gate.wait(PATIENCE_S)
        self.at_once -= 1
        self.loaded.append(settings.model)
        if settings.model in self.broken:
            raise self.broken[settings.model]
        self.engines[settings.model] = CountingEngine()
        return Synthesizer(self.engines[settings.model])

    def estimate(self, model: str, settings: Settings) -> Footprint:
        return Footprint(self.sizes_mb[model] * 1_000_000)


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Models:
    installed = Models({"a": 400, "b": 400, "c": 500, "huge": 950})
    installed.gate.set()
    monkeypatch.setattr(pool, "load", installed.load)
    monkeypatch.setattr(pool, "estimate", installed.estimate)
    # Silence takes no memory, so half of the estimate is what counts afterwards.
    monkeypatch.setattr(pool, "resident_bytes", lambda: 0)
    return installed


@asynccontextmanager
async def opened(
    models_dir: Path = Path("models"), **engine: object
) -> AsyncIterator[ModelPool]:
    settings = settings_for("tone", engine={"memory_limit_mb": LIMIT_MB, **engine})
    settings = settings.model_copy(update={"models_dir": models_dir})
    loader = Loader(settings.engine)
    models = ModelPool(settings, loader, lambda: CONFIGURED_MB * 1_000_000)
    try:
        yield models
    finally:
        await models.close(grace_s=0)


async def use(models: ModelPool, model: str) -> None:
    async with models.hold(model, PATIENCE_S):
        pass


def names(models: ModelPool, state: str = "ready") -> list[str]:
    return [each.model for each in models.members if each.state == state]


async def test_requests_for_one_model_load_it_once(models: Models) -> None:
    models.gate.clear()
    async with opened() as them, asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(use(them, "a"))
        await until_soon(lambda: names(them, "loading") == ["a"])
        models.gate.set()
    assert models.loaded == ["a"]


async def test_models_are_loaded_one_at_a_time(models: Models) -> None:
    async with opened() as them, asyncio.TaskGroup() as group:
        for model in "abab":
            group.create_task(use(them, model))
    assert sorted(models.loaded) == ["a", "b"]


async def test_model_that_was_used_longest_ago_makes_room(models: Models) -> None:
    async with opened() as them:
        for model in ("a", "b", "a"):
            await use(them, model)
        # They turned out to take 200 each; one of them has to go for 500 and 100.
        models.sizes_mb["c"] = 600
        await use(them, "c")
        assert sorted(names(them)) == ["a", "c"]
        assert models.engines["b"].closed.is_set()
        assert not models.engines["a"].closed.is_set()
        await use(them, "b")
    assert models.loaded == ["a", "b", "c", "b"]


async def test_model_that_was_converted_anew_is_loaded_anew_once_it_is_idle(
    models: Models, tmp_path: Path
) -> None:
    manifest = tmp_path / "a" / MANIFEST
    manifest.parent.mkdir()
    manifest.write_text("1")
    async with opened(models_dir=tmp_path) as them:
        async with them.hold("a", PATIENCE_S):
            first = models.engines["a"]
            manifest.write_text("2")
            await use(them, "a")
        assert models.loaded == ["a"]
        await use(them, "a")
        await use(them, "a")
        assert models.loaded == ["a", "a"]
        await until_soon(first.closed.is_set)
        assert not models.engines["a"].closed.is_set()


async def test_model_in_use_never_makes_room(models: Models) -> None:
    models.sizes_mb |= {"a": 1600, "c": 200}
    async with opened(memory_limit_mb=1800) as them:
        models.sizes_mb["b"] = 1500
        async with AsyncExitStack() as using:
            await using.enter_async_context(them.hold("a", PATIENCE_S))
            waiting = asyncio.create_task(use(them, "b"))
            await until_soon(lambda: names(them, "waiting") == ["b"])
            # What fits is not held up by what waits.
            await use(them, "c")
            assert not models.engines["a"].closed.is_set()
            assert not waiting.done()
        await waiting
        assert models.engines["a"].closed.is_set()
        assert "b" in names(them)


async def test_idle_model_does_not_leave_in_vain(models: Models) -> None:
    async with opened() as them:
        await use(them, "a")
        async with them.hold("b", PATIENCE_S):
            # Both take 200, so without the idle one there are 700.
            assert not await them._make_room("c", 750_000_000)
            assert names(them) == ["a", "b"]
            assert await them._make_room("c", 650_000_000)
            assert names(them) == ["b"]


async def test_request_that_finds_no_room_in_time_is_told_to_come_again(
    models: Models,
) -> None:
    models.sizes_mb |= {"a": 1600, "b": 1500}
    async with opened(memory_limit_mb=1800) as them, them.hold("a", PATIENCE_S):
        with pytest.raises(BusyError, match="b waits for memory") as caught:
            async with them.hold("b", patience_s=0.01):
                raise AssertionError
        assert caught.value.retry_after_s >= 1
        # Nobody waits for it any more.
        assert [each.model for each in them.members] == ["a"]
    assert models.loaded == ["a"]


async def test_request_does_not_wait_for_a_slow_load(models: Models) -> None:
    models.gate.clear()
    async with opened() as them:
        with pytest.raises(BusyError, match="a is being loaded"):
            async with them.hold("a", patience_s=0.05):
                raise AssertionError
        models.gate.set()
        # The load goes on for whoever comes next.
        await use(them, "a")
    assert models.loaded == ["a"]


async def test_model_that_can_never_fit_is_refused_with_the_setting(
    models: Models,
) -> None:
    async with opened() as them:
        with pytest.raises(ResourceError) as caught:
            await use(them, "huge")
        assert "huge takes 950 MB" in str(caught.value)
        assert "engine.memory_limit_mb to 1050" in str(caught.value)
    assert models.loaded == []


async def test_without_a_limit_everything_stays(models: Models) -> None:
    async with opened(memory_limit_mb=0) as them:
        for model in models.sizes_mb:
            await use(them, model)
        assert len(names(them)) == 4


async def test_idle_model_is_unloaded_after_its_time(models: Models) -> None:
    async with opened(unload_after_s=0.01) as them:
        async with them.hold("a", PATIENCE_S):
            await use(them, "a")
            assert names(them) == ["a"]
        await until_soon(lambda: not them.members)
        assert models.engines["a"].closed.is_set()


async def test_model_that_is_used_again_is_not_unloaded(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(unload_after_s=0.01) as them:
        await use(them, "a")
        async with them.hold("a", PATIENCE_S) as held:
            (member,) = them.members
            assert member.timer is None
            assert held is member.serving
    assert models.loaded == ["a"]


async def test_model_that_nobody_waited_for_to_the_end_is_idle_at_once(
    models: Models,
) -> None:
    models.gate.clear()
    async with opened(unload_after_s=0.01) as them:
        with pytest.raises(BusyError):
            async with them.hold("a", patience_s=0.05):
                raise AssertionError
        models.gate.set()
        await until_soon(lambda: not them.members)
        assert models.engines["a"].closed.is_set()


async def test_setting_of_0_keeps_idle_models(models: Models) -> None:
    async with opened(unload_after_s=0) as them:
        await use(them, "a")
        (member,) = them.members
        assert member.timer is None


async def failure(models: ModelPool, model: str) -> CosykitError:
    with pytest.raises(CosykitError) as caught:
        await use(models, model)
    return caught.value


async def test_failure_is_given_to_all_who_wait_and_tried_again_later(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.broken["a"] = ModelLoadError("a is broken", hint="Mend it")
    models.gate.clear()
    async with opened() as them:
        waiting = [asyncio.create_task(failure(them, "a")) for _ in range(3)]
        await until_soon(lambda: names(them, "loading") == ["a"])
        models.gate.set()
        errors = await asyncio.gather(*waiting)
        assert {str(error) for error in errors} == {"a is broken. Mend it"}
        assert len({id(error) for error in errors}) == 3
        # Not at once.
        assert str(await failure(them, "a")) == "a is broken. Mend it"
        assert models.loaded == ["a"]
        assert set(them.failures) == {"a"}
        later = time.monotonic() + 2
        monkeypatch.setattr(them._setbacks, "_now", lambda: later)
        await failure(them, "a")
        assert models.loaded == ["a", "a"]
        # The second pause is longer.
        later += 1.5
        await failure(them, "a")
        assert models.loaded == ["a", "a"]
        later += 1.5
        del models.broken["a"]
        await use(them, "a")
        assert not them.failures


@pytest.mark.parametrize("error", [KeyError("secret"), MemoryError()])
async def test_bug_of_a_plug_in_is_a_failure_to_load(
    models: Models, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    models.broken["a"] = error
    async with opened() as them:
        told = await failure(them, "a")
        assert isinstance(told, ModelLoadError)
        assert "secret" not in str(told)
        assert not them.members
    assert [r for r in caplog.records if r.levelno >= logging.WARNING]


async def test_model_that_cannot_speak_is_not_kept(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(loading.WARM_UP_TEXTS, "en", "bug")
    async with opened(warm_up=True) as them:
        await failure(them, "a")
        assert not them.members
        assert models.engines["a"].closed.is_set()


async def test_closing_ends_those_who_wait(models: Models) -> None:
    models.gate.clear()
    async with opened() as them:
        waiting = asyncio.create_task(failure(them, "a"))
        await until_soon(lambda: names(them, "loading") == ["a"])
        await them.close(grace_s=0)
        assert isinstance(await waiting, BusyError)
    models.gate.set()


@pytest.fixture
def server(plugins: None) -> Iterator[Running]:
    with running(settings_for("tone")) as it:
        yield it


def spoken(server: Running, model: str, path: str = SPEECH) -> httpx.Response:
    text = {"input" if path == SPEECH else "text": "do re"}
    return httpx.post(server.url + path, json={"model": model, **text})


@pytest.mark.parametrize("path", [SPEECH, "/v1/tts"])
def test_request_names_any_installed_model(server: Running, path: str) -> None:
    for name, model in (
        ("auto", "tone"),
        ("tts-1", "tone"),
        ("tone", "tone"),
        ("counting", "counting"),
    ):
        answer = spoken(server, name, path)
        assert answer.status_code == 200
        assert answer.headers["x-cosykit-model"] == model
    shown = httpx.get(f"{server.url}/health").json()["models"]
    assert [(each["model"], each["state"], each["configured"]) for each in shown] == [
        ("tone", "ready", True),
        ("counting", "ready", False),
    ]
    metrics = httpx.get(f"{server.url}/metrics").text
    assert 'cosykit_model_memory_bytes{model="counting"}' in metrics


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("cosyvoice-300m", "cosykit install cosyvoice-300m"),
        ("CosyVoice-300M", "cosykit install cosyvoice-300m"),
        ("../../etc", "Installed: lite"),
        ("x" * 256, "there is no model"),
    ],
)
def test_model_that_is_not_installed_is_not_found(
    server: Running, model: str, message: str
) -> None:
    answer = spoken(server, model)
    assert answer.status_code == 404
    assert answer.json()["error"]["param"] == "model"
    assert message in answer.json()["error"]["message"]


def test_model_that_cannot_be_loaded_is_told_and_shown(server: Running) -> None:
    for _ in range(2):
        answer = spoken(server, "missing")
        assert answer.status_code == 503
        assert "missing is broken" in answer.json()["error"]["message"]
    shown = httpx.get(f"{server.url}/health").json()["models"][1]
    assert (shown["model"], shown["state"]) == ("missing", "failed")
    assert "missing is broken" in shown["failure"]
    assert spoken(server, "tone").status_code == 200


def test_installed_models_are_listed_the_configured_one_first(server: Running) -> None:
    listed = httpx.get(f"{server.url}/v1/models").json()["data"]
    ids = [each["id"] for each in listed]
    assert ids[0] == "tone"
    assert {"lite", "counting", "tts-1"} < set(ids)
    assert len(set(ids)) == len(ids)
    for model in ids:
        assert httpx.get(f"{server.url}/v1/models/{model}").status_code == 200


def test_voices_of_another_model_can_be_listed(server: Running) -> None:
    def listed(query: str) -> list[str]:
        answer = httpx.get(f"{server.url}/v1/audio/voices{query}")
        return [voice["id"] for voice in answer.json()["voices"]]

    assert listed("") == listed("?model=auto") == ["hum"]
    assert listed("?model=counting") == ["only"]
    assert httpx.get(f"{server.url}/v1/audio/voices?model=nope").status_code == 404


def test_listing_voices_of_another_model_counts_as_a_request(plugins: None) -> None:
    limited = {"requests_per_minute_per_address": 1}
    with running(settings_for("tone", server=limited)) as server:
        url = f"{server.url}/v1/audio/voices"
        assert httpx.get(url, params={"model": "counting"}).status_code == 200
        assert httpx.get(url, params={"model": "counting"}).status_code == 429
        assert httpx.get(url, params={"model": "tone"}).status_code == 200


def test_stop_frees_the_other_models_too(plugins: None) -> None:
    with running(settings_for("tone")) as server:
        spoken(server, "counting")
        (member,) = server.service.pool.members
        assert isinstance(member.serving, Serving)
        engine = member.serving.loop.engine
        assert isinstance(engine, CountingEngine)
    assert engine.closed.is_set()
