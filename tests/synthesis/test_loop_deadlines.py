"""A request that does not begin in time is refused, and all others go on."""

import asyncio
import time

import pytest

from cosykit.errors import BusyError
from tests.patience import PATIENCE_S
from tests.synthesis.counting_engine import CountingEngine
from tests.synthesis.looping import held, running, words_of


async def test_request_is_refused_once_its_time_to_start_has_passed() -> None:
    engine = CountingEngine()
    async with running(engine, batch_size=1, start_within_s=0.05) as loop:
        speaking = asyncio.create_task(words_of(loop, "wait b"))
        await held(engine)
        with pytest.raises(BusyError, match=r"did not start within 0\.05 s") as caught:
            await words_of(loop, "late")
        assert caught.value.retry_after_s >= 1
        assert loop.waiting == 0
        engine.gate.set()
        # It began in time, and may take its time.
        assert await speaking == ["wait", "b"]
    assert "late" not in engine.spoken


async def test_jump_of_the_wall_clock_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = CountingEngine()
    async with running(engine, batch_size=1, start_within_s=PATIENCE_S) as loop:
        speaking = asyncio.create_task(words_of(loop, "wait b"))
        await held(engine)
        waiting = asyncio.create_task(words_of(loop, "waiting"))
        await asyncio.sleep(0)
        now = time.time()
        for jump_s in (1e6, -1e6):
            monkeypatch.setattr(time, "time", lambda jump_s=jump_s: now + jump_s)
            await asyncio.sleep(0)
        engine.gate.set()
        assert await speaking == ["wait", "b"]
        assert await waiting == ["waiting"]
        assert loop.expected_wait_s == 0


async def test_low_priority_is_served_or_refused_in_the_end() -> None:
    engine = CountingEngine()
    async with running(engine, batch_size=1, start_within_s=0.2) as loop:
        low = asyncio.create_task(words_of(loop, "low", priority=-1))
        high = 0
        while not low.done():
            await words_of(loop, f"high{high}", priority=1)
            high += 1
    with pytest.raises(BusyError):
        await words_of(loop, "closed")
    assert low.exception() is None or isinstance(low.exception(), BusyError)


async def test_one_request_overtakes_the_many_of_another_client() -> None:
    engine = CountingEngine()
    async with running(
        engine, queue_size=101, batch_size=1, start_within_s=PATIENCE_S
    ) as loop:
        tasks = [asyncio.create_task(words_of(loop, "wait", client="many"))]
        await held(engine)
        tasks += [
            asyncio.create_task(words_of(loop, f"m{number}", client="many"))
            for number in range(100)
        ]
        await asyncio.sleep(0)
        tasks.append(asyncio.create_task(words_of(loop, "one", client="other")))
        await asyncio.sleep(0)
        engine.gate.set()
        await asyncio.gather(*tasks)
    assert engine.spoken.index("one") <= 2


async def test_short_requests_do_not_wait_for_a_book_that_is_far_ahead() -> None:
    engine = CountingEngine(chunk_s=11.0)
    async with running(engine, batch_size=1, start_within_s=PATIENCE_S) as loop:
        book = asyncio.create_task(words_of(loop, "wait " + "b " * 9))
        await held(engine)
        short = [asyncio.create_task(words_of(loop, f"s{n}")) for n in range(5)]
        await asyncio.sleep(0)
        engine.gate.set()
        await asyncio.gather(*short)
        assert engine.spoken[:6] == ["wait", "s0", "s1", "s2", "s3", "s4"]
        assert len(await book) == 10


async def test_thousand_may_wait_and_leave() -> None:
    engine = CountingEngine()
    async with running(
        engine, queue_size=1000, batch_size=1, start_within_s=PATIENCE_S
    ) as loop:
        speaking = asyncio.create_task(words_of(loop, "wait"))
        await held(engine)
        tasks = [asyncio.create_task(words_of(loop, f"w{n}")) for n in range(1000)]
        await asyncio.sleep(0)
        assert loop.waiting == 1000
        for task in tasks[10:]:
            task.cancel()
        await asyncio.wait(tasks[10:])
        assert loop.waiting == 10
        engine.gate.set()
        await asyncio.gather(speaking, *tasks[:10])
    assert len(engine.spoken) == 11
