"""Wait for what nobody can be asked to tell of, but not for ever."""

import asyncio
import time
from collections.abc import Callable

PATIENCE_S = 30


def until(holds: Callable[[], bool]) -> float:
    """Wait until something holds, and give the seconds that it took."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < PATIENCE_S, "it did not come to that"
        time.sleep(0.001)
    return time.monotonic() - began


async def until_soon(holds: Callable[[], bool]) -> None:
    """Wait likewise, while the event loop goes on."""
    async with asyncio.timeout(PATIENCE_S):
        while not holds():
            await asyncio.sleep(0)
