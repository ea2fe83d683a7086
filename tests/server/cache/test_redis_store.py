"""A real Redis keeps speech; a slow, full, foreign one, or none, is in nobody's way."""

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from prometheus_client import CollectorRegistry, Counter
from redis.asyncio import Redis

from cosykit.errors import ConfigError
from cosykit.server.cache.finished import FinishedSpeech, packed
from cosykit.server.cache.redis_store import RedisStore
from tests.patience import PATIENCE_S
from tests.server.cache.redis_server import RedisServer, redis_server

KEY = bytes(range(32))
NAME = b"cosykit:1:" + KEY.hex().encode()
SPEECH = FinishedSpeech(random.Random(1).randbytes(200_000), 24_000, 4.25, ("short",))
TIMEOUT_S = 0.2
SECRET = "hunter2"


class Clock:
    """Goes on by itself, and leaps."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead_s


class Opened:
    """A store, its clock, and what it says went wrong."""

    def __init__(self, url: str, keep_s: float = 60) -> None:
        self.clock = Clock()
        self._registry = CollectorRegistry()
        self.store = RedisStore(
            url,
            timeout_s=TIMEOUT_S,
            keep_s=keep_s,
            limit_bytes=1 << 20,
            failures=Counter("failures", "Failures", registry=self._registry),
            clock=self.clock,
        )

    @property
    def failures(self) -> int:
        return int(self._registry.get_sample_value("failures_total") or 0)

    async def found(self) -> bytes | None:
        speech = await self.store.get(KEY)
        return speech.audio if speech else None


@asynccontextmanager
async def opened(url: str, keep_s: float = 60) -> AsyncGenerator[Opened]:
    it = Opened(url, keep_s)
    yield it
    await it.store.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[RedisServer]:
    """A Redis for tests that leave it as it is."""
    with redis_server() as server:
        yield server


@pytest.fixture
def own() -> Iterator[RedisServer]:
    """A Redis to mistreat."""
    with redis_server() as server:
        yield server


@pytest.fixture
async def client(shared: RedisServer) -> AsyncIterator[Redis]:
    async with Redis.from_url(shared.url) as connected:
        await connected.flushall()
        yield connected


async def test_speech_is_found_by_every_server(
    shared: RedisServer, client: Redis
) -> None:
    async with opened(shared.url) as one, opened(shared.url) as other:
        assert await other.found() is None
        await one.store.put(KEY, SPEECH)
        assert await other.found() == SPEECH.audio
        assert one.failures == other.failures == one.store.size_bytes == 0


@pytest.mark.parametrize(("keep_s", "least_ms"), [(60, 50_000), (0, -1), (1e-9, -2)])
async def test_redis_is_told_how_long_to_keep_it(
    shared: RedisServer, client: Redis, keep_s: float, least_ms: int
) -> None:
    async with opened(shared.url, keep_s) as it:
        await it.store.put(KEY, SPEECH)
    left_ms = await client.pttl(NAME)
    assert least_ms <= left_ms <= max(1, keep_s * 1000)
    assert it.failures == 0


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"somebody's",
        packed(KEY, SPEECH)[:-1],
        packed(bytes(32), SPEECH),
        bytes(4 << 20),
    ],
)
async def test_values_of_others_are_misses(
    shared: RedisServer, client: Redis, value: bytes
) -> None:
    async with opened(shared.url) as it:
        await client.set(NAME, value)
        assert await it.found() is None
        assert it.failures == 0


async def test_key_of_another_kind_is_a_miss(
    shared: RedisServer, client: Redis
) -> None:
    async with opened(shared.url) as it:
        await client.rpush(NAME, b"somebody's")
        assert await it.found() is None
        await it.store.put(KEY, SPEECH)
        assert await it.found() == SPEECH.audio
        assert it.failures == 0


async def test_too_large_speech_is_not_sent(shared: RedisServer, client: Redis) -> None:
    async with opened(shared.url) as it:
        await it.store.put(KEY, FinishedSpeech(bytes(1 << 20), 24_000, 1.0))
        assert await client.exists(NAME) == 0


async def test_many_at_once_share_few_connections(
    shared: RedisServer, client: Redis
) -> None:
    async with opened(shared.url) as it:
        await it.store.put(KEY, SPEECH)
        found = await asyncio.gather(*(it.found() for _ in range(100)))
        assert set(found) == {SPEECH.audio}
        assert it.failures == 0
        assert len(await client.client_list()) <= 17


async def test_closed_store_leaves_no_connection(
    shared: RedisServer, client: Redis
) -> None:
    async with opened(shared.url) as it:
        await it.store.put(KEY, SPEECH)
    async with asyncio.timeout(PATIENCE_S):
        while len(await client.client_list()) > 1:
            await asyncio.sleep(0.01)


async def test_slow_redis_is_waited_for_once(
    own: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with opened(own.url) as it:
        await it.store.put(KEY, SPEECH)
        own.stop_answering()
        began = time.monotonic()
        for _ in range(20):
            assert await it.found() is None
            await it.store.put(KEY, SPEECH)
        assert time.monotonic() - began < 2 * TIMEOUT_S
        assert it.failures == 1
        own.go_on()
        it.clock.ahead_s += 10
        assert await it.found() == SPEECH.audio
    told = [record.message for record in caplog.records if "Redis" in record.message]
    assert told == [
        "the cache goes on without Redis: it does not answer in time",
        "Redis does again what the cache asks of it",
    ]


async def test_only_one_asks_whether_redis_is_back(own: RedisServer) -> None:
    async with opened(own.url) as it:
        own.stop_answering()
        assert await it.found() is None
        it.clock.ahead_s += 10
        await asyncio.gather(*(it.found() for _ in range(50)))
        assert it.failures == 2
        own.go_on()


async def test_redis_that_comes_back_is_used_again(
    own: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(own.url) as it:
        await it.store.put(KEY, SPEECH)
        own.kill()
        for _ in range(20):
            assert await it.found() is None
        assert it.failures == 1
        own.start()
        it.clock.ahead_s += 10
        assert await it.found() is None
        await it.store.put(KEY, SPEECH)
        assert await it.found() == SPEECH.audio
        assert it.failures == 1
    assert caplog.text.count("it cannot be reached") == 1


async def test_failures_are_told_once_a_minute(
    own: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    own.kill()
    async with opened(own.url) as it:
        for _ in range(13):
            assert await it.found() is None
            it.clock.ahead_s += 10
        assert it.failures == 13
    assert caplog.text.count("it cannot be reached") == 3


async def test_full_redis_still_gives_what_it_has(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with redis_server() as full:
        async with opened(full.url) as it, Redis.from_url(full.url) as client:
            await it.store.put(KEY, SPEECH)
            await client.config_set("maxmemory", "1mb")
            for number in range(20):
                await it.store.put(bytes([number]), SPEECH)
                assert await it.found() == SPEECH.audio
            assert it.failures == 1
            await client.config_set("maxmemory", "0")
            it.clock.ahead_s += 10
            await it.store.put(b"other", SPEECH)
            assert await it.store.get(b"other")
    assert caplog.text.count("it is full") == 1


async def test_listener_that_leaves_does_no_harm_to_the_next(own: RedisServer) -> None:
    async with opened(own.url) as it:
        await it.store.put(KEY, SPEECH)
        own.stop_answering()
        asking = asyncio.create_task(it.found())
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        own.go_on()
        assert await it.store.get(b"other") is None
        assert await it.found() == SPEECH.audio
        assert it.failures == 0


async def test_password_is_never_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with redis_server("--requirepass", "another") as guarded:
        async with opened(f"{guarded.url}?password={SECRET}") as it:
            assert await it.found() is None
            assert it.failures == 1
    assert "does not accept the user or the password" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"-ERR unknown command, with args beginning with: AUTH hunter2\r\n",
        b":no number\r\n",
        b"$12\r\nhunter2\r\n",
        b"$-7\r\n",
        b"$999999999999\r\nhunter2",
        b"*1000000000\r\n",
        b"*2\r\n" * 2000,
        b"+OK\r\n:7\r\n" * 50,
        b"\r\n",
        b"\xff\xfe\x00",
        b"",
    ],
)
async def test_whatever_else_answers_is_no_redis(
    answer: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1000):
            writer.write(answer)
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, opened(f"redis://:{SECRET}@127.0.0.1:{port}/3") as it:
        assert await it.found() is None
        await it.store.put(KEY, SPEECH)
        assert it.failures == 1
    assert caplog.text.count("the cache goes on without Redis") == 1
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    "url",
    [
        f"http://:{SECRET}@localhost",
        f"{SECRET}",
        f"redis://:{SECRET}@localhost:port/0",
        f"redis://:{SECRET}@localhost:99999/0",
        f"redis://localhost/0?hunter={SECRET}",
        f"redis://localhost/0?socket_timeout={SECRET}",
        "",
    ],
)
async def test_address_of_nothing_is_a_wrong_configuration(url: str) -> None:
    with pytest.raises(ConfigError, match=r"cache\.redis_url") as caught:
        Opened(url)
    error: BaseException | None = caught.value
    while error:
        assert error.__suppress_context__ or SECRET not in str(error)
        error = error.__cause__
