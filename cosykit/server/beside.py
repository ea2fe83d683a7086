"""Do long work beside the event loop."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

from cosykit.errors import BusyError, DeadlineError

Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result]) -> Result:
    """Leave the event loop free meanwhile; a cancelled caller waits for the end too.

    An encoder that were closed while it works would take the process with it.
    """
    return await to_its_end(asyncio.to_thread(work))


async def to_its_end(work: Coroutine[object, object, Result]) -> Result:
    """Do what must not be left half done; a cancelled caller waits for its end."""
    working = asyncio.create_task(work)
    try:
        return await asyncio.shield(working)
    finally:
        await asyncio.wait({working})
        if not working.cancelled():
            # Whoever has left does not ask, and asyncio would log a failure as lost.
            working.exception()


class OneAtATime:
    """Work that would take the whole machine if several did it at once.

    Args:
        queue_size: Most who wait for their turn; one more is refused.
        timeout_s: Most time to wait for it.
    """

    def __init__(self, queue_size: int, timeout_s: float) -> None:
        self._queue_size, self._timeout_s = queue_size, timeout_s
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do some work in a thread when its turn has come.

        Raises:
            BusyError: Too many wait.
            DeadlineError: The turn has not come in time.
        """
        await self._await_turn()
        try:
            return await in_thread(work)
        finally:
            self._turn.release()

    async def _await_turn(self) -> None:
        if self._waiting >= self._queue_size:
            raise BusyError(
                f"{self._queue_size} recordings are waiting already",
                hint="Try again later, or raise engine.queue_size",
            )
        self._waiting += 1
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._turn.acquire()
        except TimeoutError:
            raise DeadlineError(
                f"the recording was not looked at within {self._timeout_s:g} s",
                hint="Try again later, or raise engine.timeout_s",
            ) from None
        finally:
            self._waiting -= 1
