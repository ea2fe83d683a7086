"""Long work takes turns beside the event loop."""

import asyncio
import gc
import threading

import pytest

from cosykit.errors import BusyError, DeadlineError
from cosykit.server.beside import OneAtATime, in_thread
from tests.patience import PATIENCE_S


class Held:
    """Work that goes on until the gate is set."""

    def __init__(self) -> None:
        self.begun, self.gate = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self.gate.wait(PATIENCE_S)
        return "done"

    async def start(self, turns: OneAtATime) -> asyncio.Task[str]:
        task = asyncio.create_task(turns.run(self))
        assert await asyncio.to_thread(self.begun.wait, PATIENCE_S)
        return task


def test_one_waits_for_the_other_and_a_third_is_refused() -> None:
    async def act() -> None:
        turns, first, second = OneAtATime(1, PATIENCE_S), Held(), Held()
        second.gate.set()
        running = await first.start(turns)
        waiting = asyncio.create_task(turns.run(second))
        await asyncio.sleep(0)
        with pytest.raises(BusyError, match="1 recordings are waiting"):
            await turns.run(second)
        assert not second.begun.is_set()
        first.gate.set()
        assert [await running, await waiting] == ["done", "done"]

    asyncio.run(act())


def test_turn_that_does_not_come_in_time_is_given_up() -> None:
    async def act() -> None:
        turns, first = OneAtATime(1, 0.01), Held()
        running = await first.start(turns)
        with pytest.raises(DeadlineError, match=r"within 0\.01 s"):
            await turns.run(Held())
        first.gate.set()
        assert await running == "done"
        assert await turns.run(lambda: "next") == "next"

    asyncio.run(act())


def test_turn_of_one_who_leaves_lasts_until_the_work_has_ended() -> None:
    async def act() -> None:
        turns, first = OneAtATime(1, PATIENCE_S), Held()
        running = await first.start(turns)
        running.cancel()
        after = asyncio.create_task(turns.run(lambda: first.gate.is_set()))
        await asyncio.sleep(0)
        first.gate.set()
        assert await after
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(act())


def test_failure_after_its_caller_has_left_is_not_logged_as_lost() -> None:
    begun, gate = threading.Event(), threading.Event()
    lost: list[object] = []

    def fail() -> None:
        begun.set()
        assert gate.wait(PATIENCE_S)
        raise BusyError("nobody hears this")

    async def act() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, told: lost.append(told["message"]))
        working = asyncio.create_task(in_thread(fail))
        assert await asyncio.to_thread(begun.wait, PATIENCE_S)
        working.cancel()
        gate.set()
        with pytest.raises(asyncio.CancelledError):
            await working
        del working
        gc.collect()

    asyncio.run(act())
    assert not lost
