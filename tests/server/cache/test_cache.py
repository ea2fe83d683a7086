"""A request finds its speech, within bounds that no crowd of listeners can break."""

from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace

import pytest

from cosykit.server.cache import cache as cache_module
from cosykit.server.cache.cache import Entry, SpeechCache
from cosykit.server.cache.control import CACHE_CONTROL, CacheControl
from cosykit.server.cache.finished import FinishedSpeech
from cosykit.server.metrics import Metrics
from cosykit.types import SpeechRequest
from tests.server.cache.repeatable_engine import RepeatableEngine

MB = 1 << 20


class DistantStore:
    """Gives a copy of what it has whenever it is asked, as Redis does."""

    size_bytes = 0

    def __init__(self) -> None:
        self.kept: dict[bytes, FinishedSpeech] = {}

    async def get(self, key: bytes) -> FinishedSpeech | None:
        return replace(self.kept[key]) if key in self.kept else None

    async def put(self, key: bytes, speech: FinishedSpeech) -> None:
        self.kept[key] = speech

    async def close(self) -> None:
        self.kept.clear()


@contextmanager
def no_cache() -> Iterator[None]:
    token = CACHE_CONTROL.set(CacheControl.of("no-cache"))
    yield
    CACHE_CONTROL.reset(token)


@pytest.fixture
def cache() -> SpeechCache:
    """Takes 4 MB, and 1 MB of each request."""
    return SpeechCache(DistantStore(), 4 * MB, MB, Metrics())


async def entry(
    listeners: AsyncExitStack,
    cache: SpeechCache,
    text: str,
    engine: RepeatableEngine | None = None,
) -> Entry:
    request = SpeechRequest(text)
    entering = cache.entry(engine or RepeatableEngine(), request, "pcm", 24_000)
    return await listeners.enter_async_context(entering)


async def spoken(cache: SpeechCache, text: str, size_bytes: int) -> None:
    async with AsyncExitStack() as listeners:
        place = await entry(listeners, cache, text)
        place.collect(bytes(size_bytes // 2))
        place.collect(bytes(size_bytes // 2))
        await place.keep(24_000, 1.0, ())


async def test_listeners_of_one_speech_share_its_memory(cache: SpeechCache) -> None:
    await spoken(cache, "known", MB // 2)
    async with AsyncExitStack() as listeners:
        found = {(await entry(listeners, cache, "known")).found for _ in range(100)}
    assert len(found) == 1
    assert None not in found


async def test_listeners_that_take_nothing_hold_bounded_memory(
    cache: SpeechCache,
) -> None:
    texts = [f"known {number}" for number in range(100)]
    for text in texts:
        await spoken(cache, text, MB // 2)
    async with AsyncExitStack() as listeners:
        found = [(await entry(listeners, cache, text)).status for text in texts]
        assert found == ["hit"] * 7 + ["miss"] * 93
    async with AsyncExitStack() as listeners:
        assert (await entry(listeners, cache, texts[-1])).status == "hit"


async def test_speech_under_way_holds_bounded_memory(cache: SpeechCache) -> None:
    async with AsyncExitStack() as listeners:
        for number in range(100):
            place = await entry(listeners, cache, f"new {number}")
            place.collect(bytes(MB // 4))
            assert cache.size_bytes <= MB
        assert cache.size_bytes > MB // 2
    assert cache.size_bytes == 0


async def test_newer_speech_is_found_though_some_listen_to_the_older(
    cache: SpeechCache,
) -> None:
    await spoken(cache, "known", 1000)
    async with AsyncExitStack() as listeners:
        older = await entry(listeners, cache, "known")
        with no_cache():
            await spoken(cache, "known", 2000)
        newer = await entry(listeners, cache, "known")
    assert older.found
    assert newer.found
    assert (len(older.found.audio), len(newer.found.audio)) == (1000, 2000)


async def test_speech_of_another_version_is_not_found(
    cache: SpeechCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    await spoken(cache, "known", 10)
    async with AsyncExitStack() as listeners:
        assert (await entry(listeners, cache, "known")).found
        monkeypatch.setattr(cache_module, "__version__", "another")
        assert not (await entry(listeners, cache, "known")).found


async def test_speech_that_is_not_whole_is_not_kept(cache: SpeechCache) -> None:
    async with AsyncExitStack() as listeners:
        (await entry(listeners, cache, "new")).collect(b"half of it")
    async with AsyncExitStack() as listeners:
        assert (await entry(listeners, cache, "new")).status == "miss"


@pytest.mark.parametrize("is_removed", [False, True])
async def test_speech_of_a_voice_that_was_replaced_meanwhile_is_not_kept(
    cache: SpeechCache, is_removed: bool
) -> None:
    engine = RepeatableEngine()
    async with AsyncExitStack() as listeners:
        place = await entry(listeners, cache, "new", engine)
        place.collect(b"in the voice of somebody else")
        engine.voice = "" if is_removed else "another"
        await place.keep(24_000, 1.0, ())
    async with AsyncExitStack() as listeners:
        assert (await entry(listeners, cache, "new")).status == "miss"


async def test_silence_of_no_length_is_not_kept(cache: SpeechCache) -> None:
    async with AsyncExitStack() as listeners:
        place = await entry(listeners, cache, "new")
        place.collect(b"header")
        await place.keep(24_000, 0.0, ())
    async with AsyncExitStack() as listeners:
        assert (await entry(listeners, cache, "new")).status == "miss"


async def test_long_texts_are_not_looked_for(cache: SpeechCache) -> None:
    async with AsyncExitStack() as listeners:
        assert (await entry(listeners, cache, "word " * 2000)).status == ""
