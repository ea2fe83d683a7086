"""Run an engine in a loop and hear its words."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from cosykit.config.values import Auto
from cosykit.synthesis.loop import Loop
from cosykit.types import SpeechRequest
from tests.patience import PATIENCE_S
from tests.synthesis.counting_engine import CountingEngine


@asynccontextmanager
async def running(
    engine: CountingEngine,
    *,
    queue_size: int = 8,
    batch_size: int = 8,
    timeout_s: float = PATIENCE_S,
    batch_window_s: float = 0.0,
    start_within_s: float = math.inf,
    parallel: int | Auto = "auto",
    on_restart: Callable[[], None] = lambda: None,
) -> AsyncIterator[Loop]:
    """Run an engine, and close it whatever happens."""
    loop = Loop(
        engine,
        queue_size=queue_size,
        batch_size=batch_size,
        timeout_s=timeout_s,
        batch_window_s=batch_window_s,
        start_within_s=start_within_s,
        parallel=parallel,
        on_restart=on_restart,
    )
    try:
        yield loop
    finally:
        engine.gate.set()
        await loop.close()


async def words_of(
    loop: Loop, text: str, *, client: str = "", priority: int = 0
) -> list[str]:
    request = SpeechRequest(text, client=client, priority=priority)
    return [chunk.text async for chunk in loop.stream(request) if chunk.text]


async def held(engine: CountingEngine) -> None:
    """Wait until the engine is held by a word."""
    assert await asyncio.to_thread(engine.held.wait, PATIENCE_S)
