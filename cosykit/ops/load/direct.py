"""Load an engine itself, so that one sees what a server adds to it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager

import psutil

from cosykit.config.schema import EngineSettings
from cosykit.engines.synthesizer import Synthesizer
from cosykit.errors import BusyError
from cosykit.ops.load.measure import Plan
from cosykit.ops.load.report import Footprint, LoadResult, result_of
from cosykit.ops.load.users import Answers
from cosykit.synthesis.loop import Loop
from cosykit.types import SpeechRequest


async def measure_direct(
    opened: Synthesizer,
    settings: EngineSettings,
    plan: Plan,
    texts: Iterator[str],
    tell: Callable[[LoadResult], None] = lambda result: None,
) -> Sequence[LoadResult]:
    """Load an engine, level by level.

    Raises:
        CosykitError: The engine cannot speak.
    """
    process, results = psutil.Process(), []
    async with _running(opened, settings) as loop:
        await _hear(loop, next(texts))
        for users in plan.users:
            if plan.settle_s:
                await _level(loop, users, plan.settle_s, texts)
            before = process.cpu_times()
            answers = await _level(loop, users, plan.seconds, texts)
            after = process.cpu_times()
            cpu_s = after.user + after.system - before.user - before.system
            took = Footprint([process.memory_info().rss], cpu_s)
            results.append(result_of(users, answers, took))
            tell(results[-1])
    return results


@asynccontextmanager
async def _running(
    opened: Synthesizer, settings: EngineSettings
) -> AsyncIterator[Loop]:
    loop = Loop.configured(opened.engine, settings)
    try:
        yield loop
    finally:
        await loop.close()


async def _level(
    loop: Loop, users: int, seconds: float, texts: Iterator[str]
) -> Answers:
    answers, ends_at = Answers(), time.monotonic() + seconds
    await asyncio.gather(*(_use(loop, ends_at, texts, answers) for _ in range(users)))
    answers.period_s = seconds
    return answers


async def _use(
    loop: Loop, ends_at: float, texts: Iterator[str], answers: Answers
) -> None:
    """Be one user: ask, listen, ask again."""
    while (left_s := ends_at - time.monotonic()) > 0:
        try:
            await _ask(loop, ends_at, next(texts), answers)
        except BusyError as error:
            answers.refused[error.http_status] += 1
            await asyncio.sleep(min(error.retry_after_s, left_s))


async def _ask(loop: Loop, ends_at: float, text: str, answers: Answers) -> None:
    began, first_byte_s = time.monotonic(), 0.0
    async for chunk in loop.stream(SpeechRequest(text)):
        now = time.monotonic()
        first_byte_s = first_byte_s or now - began
        answers.note_audio(chunk.duration_s, in_time=now <= ends_at)
    answers.first_byte_s.append(first_byte_s)
    answers.total_s.append(time.monotonic() - began)


async def _hear(loop: Loop, text: str) -> None:
    async for _ in loop.stream(SpeechRequest(text)):
        pass
