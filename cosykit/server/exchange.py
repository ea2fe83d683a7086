"""The engine in use, and those before it that finish what they have begun."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from cosykit.runtime.arenas import give_back
from cosykit.synthesis.loop import Loop


@dataclass(frozen=True, slots=True, eq=False)
class Serving:
    """An engine that answers requests.

    Attributes:
        fallback: Why no better one does; empty if there is none.
    """

    loop: Loop
    fallback: str = ""


class Exchange:
    """Puts one engine in the place of another without dropping a request."""

    def __init__(self) -> None:
        self._current: Serving | None = None
        self._holders: Counter[Serving] = Counter()
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def current(self) -> Serving | None:
        """The engine for new requests; None before the first was put in."""
        return self._current

    @property
    def waiting(self) -> int:
        """How many requests wait until there is room, of any engine."""
        return sum(serving.loop.waiting for serving in self._all())

    @property
    def active(self) -> int:
        """How many requests are being spoken, by engines on their way out too."""
        return sum(serving.loop.active for serving in self._all())

    def put(self, serving: Serving) -> None:
        """Take an engine for new requests; the old one closes once nobody holds it."""
        retired, self._current = self._current, serving
        if retired and not self._holders[retired]:
            self._close(retired)

    @asynccontextmanager
    async def hold(self, serving: Serving) -> AsyncGenerator[Serving]:
        """Keep an engine open for a request, even if another takes its place."""
        self._holders[serving] += 1
        try:
            yield serving
        finally:
            self._holders[serving] -= 1
            if not self._holders[serving]:
                del self._holders[serving]
                if serving is not self._current:
                    self._close(serving)

    async def close(self, grace_s: float) -> None:
        """Let all engines finish within the grace, and free them."""
        closing = [serving.loop.close(grace_s) for serving in self._all()]
        await asyncio.gather(*closing, *self._closing)

    def _all(self) -> set[Serving]:
        """Give the current engine and those that are still held."""
        return {*self._holders, *([self._current] if self._current else [])}

    def _close(self, serving: Serving) -> None:
        task = asyncio.create_task(_free(serving.loop))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


async def _free(loop: Loop) -> None:
    await loop.close()
    del loop
    await asyncio.to_thread(give_back)
