"""Keep finished speech in a Redis, which may be slow, full, gone, or something else.

Whatever is wrong with it costs a request `cache.redis_timeout_ms` at most, now and then
a line in the log, and nothing else.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from prometheus_client import Counter
from redis.exceptions import ResponseError

from cosykit.redis_client import PREFIX, open_redis, reason_of
from cosykit.server.cache.finished import FinishedSpeech, packed, unpacked

_log = logging.getLogger(__name__)

# What is not known to work is tried once in so many seconds, and told as often.
_PAUSE_S = 5.0
_TOLD_EVERY_S = 60.0

Reply = TypeVar("Reply")


class Pause:
    """Leaves alone for a while what has failed.

    Args:
        clock: Counts seconds whatever happens to the time of day.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until: float | None = None

    def may_try(self) -> bool:
        """Tell whether to try; after a failure only one does, once in a pause."""
        if self._until is None:
            return True
        if self._clock() < self._until:
            return False
        self.begin()
        return True

    def begin(self) -> None:
        """Note a failure."""
        self._until = self._clock() + _PAUSE_S

    def end(self) -> bool:
        """Note a success; tell whether it ends a pause."""
        was_paused, self._until = self._until is not None, None
        return was_paused


class RedisStore:
    """Speech in a Redis that others may share.

    Args:
        url: Address, with the password if there is one; it is never logged.
        timeout_s: Most time for anything that is asked of it, with connecting.
        keep_s: When speech is forgotten; 0 for never.
        limit_bytes: The largest value that is written or read.
        failures: Counts what it did not do.

    Raises:
        ConfigError: The address is none.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float,
        keep_s: float,
        limit_bytes: int,
        failures: Counter,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeout_s, self._limit_bytes = timeout_s, limit_bytes
        self._keep_ms = max(1, round(keep_s * 1000)) if keep_s else None
        self._failures = failures
        self._clock = clock
        self._silent, self._refusing = Pause(clock), Pause(clock)
        self._told_at: float | None = None
        self._redis = open_redis(url)

    @property
    def size_bytes(self) -> int:
        """The memory that it takes in this process: none."""
        return 0

    async def get(self, key: bytes) -> FinishedSpeech | None:
        """Look speech up; None too where Redis does not answer."""
        if not self._silent.may_try():
            return None
        # Of a value that is not ours no more is read than ours could have.
        asked = self._redis.getrange(_name(key), 0, self._limit_bytes - 1)
        value = await self._answer(asked, self._silent)
        return unpacked(key, value) if isinstance(value, bytes) else None

    async def put(self, key: bytes, speech: FinishedSpeech) -> None:
        """Keep speech, if Redis takes it."""
        value = packed(key, speech)
        if len(value) > self._limit_bytes:
            return
        if self._silent.may_try() and self._refusing.may_try():
            asked = self._redis.set(_name(key), value, px=self._keep_ms)
            await self._answer(asked, self._refusing)

    async def close(self) -> None:
        """Close the connections; what is kept stays."""
        with suppress(Exception):
            async with asyncio.timeout(self._timeout_s):
                await self._redis.aclose()

    async def _answer(self, asked: Awaitable[Reply], refusing: Pause) -> Reply | None:
        """Wait for an answer, within the timeout.

        Args:
            refusing: What to leave alone for a while if Redis refuses this.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await asked
        except ResponseError as error:
            # Of a key that somebody else uses.
            if not str(error).startswith("WRONGTYPE"):
                self._note(error, refusing)
            return None
        except Exception as error:
            # The client raises anything when what answers is no Redis.
            self._note(error, self._silent)
            return None
        was_paused = [pause.end() for pause in {self._silent, refusing}]
        if any(was_paused):
            _log.info("Redis does again what the cache asks of it")
        return reply

    def _note(self, error: Exception, pause: Pause) -> None:
        pause.begin()
        self._failures.inc()
        now = self._clock()
        if self._told_at is None or now - self._told_at >= _TOLD_EVERY_S:
            self._told_at = now
            _log.warning("the cache goes on without Redis: %s", reason_of(error))


def _name(key: bytes) -> bytes:
    return PREFIX + key.hex().encode()
