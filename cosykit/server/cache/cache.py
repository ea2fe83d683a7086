"""The finished speech of requests that came before.

    request ─▶ key ─▶ hit:  its speech
                  └─▶ miss: engine ─▶ collected piece by piece ─▶ kept, once it is whole

A key is what shapes the audio, see `Repeatable`, and how it is encoded. Requests that
come while the same one is under way are spoken too: who waited for another's speech
would have to wait for a listener that may never take it.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing, suppress
from functools import partial
from typing import Literal
from weakref import WeakValueDictionary

from cosykit import __version__
from cosykit.audio.formats import AudioFormat
from cosykit.config.schema import CacheSettings
from cosykit.engines.identity import digest
from cosykit.errors import CosykitError
from cosykit.seams import Engine, Repeatable
from cosykit.server.beside import in_thread
from cosykit.server.cache.collecting import Collecting, Room
from cosykit.server.cache.control import CACHE_CONTROL
from cosykit.server.cache.finished import FinishedSpeech
from cosykit.server.cache.memory import MemoryStore
from cosykit.server.cache.store import Store
from cosykit.server.metrics import Metrics
from cosykit.types import SpeechRequest

Status = Literal["hit", "miss", ""]
"""Whether speech was there; empty where it cannot be."""

# Hardly anybody asks twice for a longer text, and its audio would hardly find room.
_LONGEST_TEXT = 5000
# A Redis on a network of 1 Gbit/s gives as much in 34 ms.
_LARGEST_VALUE_BYTES = 4 << 20


class Entry:
    """The place of a request in the cache.

    Args:
        collecting: Where its speech is collected; None where it is not to be kept.
        put: Keeps its speech.

    Attributes:
        status: Whether speech was there; empty where there can be none.
        found: The speech that was.
    """

    def __init__(
        self,
        status: Status = "",
        found: FinishedSpeech | None = None,
        collecting: Collecting | None = None,
        put: Callable[[FinishedSpeech], Awaitable[None]] | None = None,
    ) -> None:
        self.status, self.found = status, found
        self._collecting, self._put = collecting, put

    def collect(self, piece: bytes) -> None:
        """Take the next piece of the request's speech."""
        if self._collecting:
            self._collecting.add(piece)

    async def keep(
        self, sample_rate: int, duration_s: float, remarks: Sequence[str]
    ) -> None:
        """Keep the speech, which is whole now, unless it is too large."""
        audio = self._collecting.joined() if self._collecting else b""
        if self._put and audio and duration_s > 0:
            await self._put(
                FinishedSpeech(audio, sample_rate, duration_s, tuple(remarks))
            )


class SpeechCache:
    """Finds speech that was made before, and keeps what is made.

    Args:
        store: Where; None keeps nothing.
        size_bytes: Most memory to take. As much again may be on its way to listeners
            when it is forgotten here.
        largest_bytes: Most audio of one request.
    """

    def __init__(
        self,
        store: Store | None,
        size_bytes: int,
        largest_bytes: int,
        metrics: Metrics,
    ) -> None:
        self._store, self._size_bytes = store, size_bytes
        self._largest_bytes = largest_bytes
        self._metrics = metrics
        self._room = Room(_share_under_way(size_bytes))
        # By its key, so that it takes memory once however many listen.
        self._given: WeakValueDictionary[bytes, FinishedSpeech] = WeakValueDictionary()

    @property
    def size_bytes(self) -> int:
        """The memory that kept and collected speech takes."""
        kept = self._store.size_bytes if self._store else 0
        return kept + self._room.taken_bytes

    @asynccontextmanager
    async def entry(
        self,
        engine: Engine,
        request: SpeechRequest,
        audio_format: AudioFormat,
        sample_rate: int,
    ) -> AsyncGenerator[Entry]:
        """Look a request up; what is collected is let go of in the end.

        Args:
            sample_rate: Samples a second of the encoded audio.

        Raises:
            InputError: It cannot be spoken.
        """
        is_short = len(request.text) <= _LONGEST_TEXT
        if self._store is None or not isinstance(engine, Repeatable) or not is_short:
            yield Entry()
            return
        control = CACHE_CONTROL.get()
        key_now = partial(_key, engine, request, audio_format, sample_rate)
        key = await in_thread(key_now)
        found = await self._find(self._store, key) if control.may_read else None
        if found:
            self._metrics.cache_hits.inc()
            yield Entry("hit", found)
            return
        self._metrics.cache_misses.inc()
        if not control.may_keep:
            yield Entry("miss")
            return
        collecting = Collecting(self._room, self._largest_bytes)
        with closing(collecting):
            put = partial(self._keep, self._store, key, key_now)
            yield Entry("miss", collecting=collecting, put=put)

    async def close(self) -> None:
        """Let go of what is kept."""
        if self._store:
            await self._store.close()

    async def _find(self, store: Store, key: bytes) -> FinishedSpeech | None:
        given = self._given.get(key)
        found = given or await store.get(key)
        if found is None:
            return None
        if given is None:
            # Else listeners that take nothing could hold any number.
            on_the_way = sum(speech.size_bytes for speech in self._given.values())
            if on_the_way + found.size_bytes > self._size_bytes:
                return None
            self._given[key] = found
        return found

    async def _keep(
        self,
        store: Store,
        key: bytes,
        key_now: Callable[[], bytes],
        speech: FinishedSpeech,
    ) -> None:
        with suppress(CosykitError):
            # A voice may have been replaced, or removed, while the request waited.
            if await in_thread(key_now) == key:
                # Whoever comes now gets this one.
                self._given.pop(key, None)
                await store.put(key, speech)


def open_cache(settings: CacheSettings, metrics: Metrics) -> SpeechCache:
    """Open the cache that the configuration describes.

    Raises:
        ConfigError: The address of Redis is none.
    """
    size_bytes = settings.size_mb << 20
    under_way = _share_under_way(size_bytes)
    if settings.store == "off":
        return SpeechCache(None, size_bytes, 0, metrics)
    if settings.store == "memory":
        memory = MemoryStore(size_bytes - under_way, settings.keep_s)
        return SpeechCache(memory, size_bytes, under_way, metrics)
    # The client takes half a second and 40 MB to import.
    from cosykit.server.cache.redis_store import RedisStore

    largest_bytes = min(under_way, _LARGEST_VALUE_BYTES)
    redis = RedisStore(
        settings.redis_url.get_secret_value(),
        timeout_s=settings.redis_timeout_ms / 1000,
        keep_s=settings.keep_s,
        limit_bytes=largest_bytes,
        failures=metrics.cache_failures,
    )
    return SpeechCache(redis, size_bytes, largest_bytes, metrics)


def _key(
    engine: Repeatable,
    request: SpeechRequest,
    audio_format: AudioFormat,
    sample_rate: int,
) -> bytes:
    return digest(__version__, engine.identity(request), audio_format, sample_rate)


def _share_under_way(size_bytes: int) -> int:
    """Set a quarter aside for speech that is not finished yet."""
    return size_bytes // 4
