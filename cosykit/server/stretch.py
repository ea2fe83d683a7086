"""What is said between two interruptions, a little ahead of its listener."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from cosykit.server.live_events import SentenceBegan, SentenceEnded
from cosykit.types import AudioChunk

# Speech that waits for a slow listener; behind it, the engine's own limit holds.
_AHEAD_S = 10.0

Said = SentenceBegan | AudioChunk | SentenceEnded


class Stretch:
    """What is said between two interruptions.

    Attributes:
        is_broken: Whether it was broken off.
    """

    def __init__(self) -> None:
        self.is_broken = False
        self._speaking: asyncio.Task[None] | None = None
        # Without a limit of its own, so that its end can always be put in.
        self._said: asyncio.Queue[Said | None] = asyncio.Queue()
        self._ahead_s = 0.0
        self._has_room = asyncio.Event()

    def break_off(self) -> None:
        """Say no more of it."""
        self.is_broken = True
        if self._speaking:
            self._speaking.cancel()

    async def said(self, spoken: AsyncGenerator[Said]) -> AsyncGenerator[Said]:
        """Have it spoken a little ahead, and yield it until it is broken off."""
        if self.is_broken:
            return
        self._speaking = speaking = asyncio.create_task(self._speak(spoken))
        speaking.add_done_callback(lambda _: self._said.put_nowait(None))
        try:
            while (what := await self._said.get()) and not self.is_broken:
                yield what
                if isinstance(what, AudioChunk):
                    self._ahead_s -= what.duration_s
                    self._has_room.set()
            if not self.is_broken:
                await speaking
        finally:
            speaking.cancel()
            await asyncio.gather(speaking, return_exceptions=True)

    async def _speak(self, spoken: AsyncGenerator[Said]) -> None:
        async with aclosing(spoken):
            async for what in spoken:
                if isinstance(what, AudioChunk):
                    await self._await_room()
                    self._ahead_s += what.duration_s
                self._said.put_nowait(what)

    async def _await_room(self) -> None:
        while self._ahead_s >= _AHEAD_S:
            self._has_room.clear()
            await self._has_room.wait()
