"""What was asked for last stays, within a limit of bytes and of time."""

import pytest

from cosykit.server.cache.finished import FinishedSpeech
from cosykit.server.cache.memory import MemoryStore

KB = 1000


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def speech(size_bytes: int = 10 * KB) -> FinishedSpeech:
    return FinishedSpeech(bytes(size_bytes), 24_000, 1.0)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock) -> MemoryStore:
    """Has room for three times 10 KB."""
    return MemoryStore(35 * KB, keep_s=60, clock=clock)


async def test_what_is_kept_is_found(store: MemoryStore) -> None:
    kept = speech()
    await store.put(b"a", kept)
    assert await store.get(b"a") is kept
    assert await store.get(b"b") is None


async def test_what_was_not_asked_for_goes_first(store: MemoryStore) -> None:
    for key in (b"a", b"b", b"c"):
        await store.put(key, speech())
    await store.get(b"a")
    await store.put(b"d", speech())
    there = [key for key in (b"a", b"b", b"c", b"d") if await store.get(key)]
    assert there == [b"a", b"c", b"d"]


async def test_memory_stays_within_its_limit(store: MemoryStore) -> None:
    for number in range(1000):
        await store.put(bytes([number % 256, number % 7]), speech(number % 97 * 500))
        assert store.size_bytes <= 35 * KB
    assert store.size_bytes > 20 * KB


async def test_many_small_ones_count_for_more_than_their_audio(
    store: MemoryStore,
) -> None:
    for number in range(1000):
        await store.put(number.to_bytes(2, "big"), speech(1))
    there = [n for n in range(1000) if await store.get(n.to_bytes(2, "big"))]
    assert len(there) < 100


async def test_what_is_too_large_leaves_the_others_alone(store: MemoryStore) -> None:
    await store.put(b"a", speech())
    await store.put(b"b", speech(40 * KB))
    assert await store.get(b"b") is None
    assert await store.get(b"a")


async def test_newer_speech_takes_the_place_of_the_old(store: MemoryStore) -> None:
    newer = speech(5 * KB)
    for kept in (speech(), newer):
        await store.put(b"a", kept)
    assert await store.get(b"a") is newer
    assert store.size_bytes == newer.size_bytes


async def test_speech_is_forgotten_in_time_however_often_it_is_asked_for(
    store: MemoryStore, clock: Clock
) -> None:
    await store.put(b"a", speech())
    for _ in range(5):
        clock.now += 11
        assert await store.get(b"a")
    clock.now += 11
    assert await store.get(b"a") is None
    assert store.size_bytes == 0


async def test_speech_can_be_kept_for_good(clock: Clock) -> None:
    store = MemoryStore(35 * KB, keep_s=0, clock=clock)
    await store.put(b"a", speech())
    clock.now += 1e9
    assert await store.get(b"a")
