"""Keep finished speech in this process's memory."""

import time
from collections import OrderedDict
from collections.abc import Callable

from cosykit.server.cache.finished import FinishedSpeech


class MemoryStore:
    """The speech that was asked for last.

    Args:
        limit_bytes: Most memory to take.
        keep_s: When speech is forgotten; 0 for never.
        clock: Counts seconds whatever happens to the time of day.
    """

    def __init__(
        self,
        limit_bytes: int,
        keep_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit_bytes, self._keep_s = limit_bytes, keep_s
        self._clock = clock
        self._size_bytes = 0
        self._kept: OrderedDict[bytes, tuple[float, FinishedSpeech]] = OrderedDict()

    @property
    def size_bytes(self) -> int:
        """The memory that it takes."""
        return self._size_bytes

    async def get(self, key: bytes) -> FinishedSpeech | None:
        """Look speech up."""
        if key not in self._kept:
            return None
        kept_at, speech = self._kept[key]
        if self._keep_s and self._clock() - kept_at >= self._keep_s:
            self._forget(key)
            return None
        self._kept.move_to_end(key)
        return speech

    async def put(self, key: bytes, speech: FinishedSpeech) -> None:
        """Keep speech, and forget what was not asked for the longest to make room."""
        self._forget(key)
        if speech.size_bytes > self._limit_bytes:
            return
        while self._size_bytes + speech.size_bytes > self._limit_bytes:
            self._forget(next(iter(self._kept)))
        self._kept[key] = self._clock(), speech
        self._size_bytes += speech.size_bytes

    async def close(self) -> None:
        """Forget all of it."""
        self._kept.clear()
        self._size_bytes = 0

    def _forget(self, key: bytes) -> None:
        if key in self._kept:
            self._size_bytes -= self._kept.pop(key)[1].size_bytes
