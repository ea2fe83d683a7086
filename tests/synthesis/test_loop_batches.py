"""The loop hands all requests of a batching engine to every step of it."""

import asyncio
import threading
from collections.abc import Collection, Sequence

import pytest

from cosykit.errors import BusyError, CosykitError, InputError
from cosykit.seams import BatchEngine, Progress
from cosykit.types import SpeechRequest
from tests.patience import PATIENCE_S
from tests.synthesis.counting_engine import RATE, CountingEngine
from tests.synthesis.looping import held, running, words_of


class BatchingEngine(CountingEngine):
    """Speaks the next word of every request at each step.

    Attributes:
        steps: The words of each step.
    """

    def __init__(self, chunk_s: float = 0.1) -> None:
        super().__init__(chunk_s)
        self.steps: list[list[str]] = []
        self._words: dict[str, list[str]] = {}
        self._lock = threading.Lock()

    def begin(self, request: SpeechRequest) -> None:
        if request.text == "full":
            raise BusyError("there is no room")
        if not request.text.strip():
            raise InputError("there is nothing to say")
        with self._lock:
            self._words[request.request_id] = request.text.split()

    def step(self, resting: Collection[str] = ()) -> Sequence[Progress]:
        with self._lock:
            words = {n: w for n, w in self._words.items() if n not in resting}
        spoken = [queue[0] for queue in words.values() if queue]
        if "bug" in spoken:
            raise ZeroDivisionError("a bug")
        self.steps.append(spoken)
        return [self._next(name, queue) for name, queue in words.items()]

    def _next(self, name: str, queue: list[str]) -> Progress:
        if not queue:
            with self._lock:
                self._words.pop(name, None)
            return Progress(name, None)
        return Progress(name, self._speak(queue.pop(0)))

    def cancel(self, request_id: str) -> None:
        super().cancel(request_id)
        with self._lock:
            self._words.pop(request_id, None)


def test_engine_that_steps_is_a_batch_engine_and_another_is_not() -> None:
    assert isinstance(BatchingEngine(), BatchEngine)
    assert not isinstance(CountingEngine(), BatchEngine)


async def test_newcomer_joins_at_the_next_step() -> None:
    engine = BatchingEngine()
    async with running(engine) as loop:
        old = asyncio.create_task(words_of(loop, "wait b c"))
        await held(engine)
        new = asyncio.create_task(words_of(loop, "x y"))
        await asyncio.sleep(0)
        engine.gate.set()
        assert (await old, await new) == (["wait", "b", "c"], ["x", "y"])
    assert engine.steps[:3] == [["wait"], ["b", "x"], ["c", "y"]]


async def test_first_request_waits_for_company() -> None:
    engine = BatchingEngine()
    async with running(engine, batch_size=2, batch_window_s=PATIENCE_S) as loop:
        first = asyncio.create_task(words_of(loop, "a"))
        await asyncio.sleep(0)
        # The batch is full with it, so nobody waits any longer.
        assert await words_of(loop, "b") == ["b"]
        assert await first == ["a"]
    assert engine.steps[0] == ["a", "b"]


async def test_request_that_is_refused_at_its_begin_leaves_the_others_alone() -> None:
    engine = BatchingEngine()
    async with running(engine) as loop:
        speaking = asyncio.create_task(words_of(loop, "a b"))
        with pytest.raises(InputError, match="nothing to say"):
            await words_of(loop, " ")
        with pytest.raises(BusyError, match="no room"):
            await words_of(loop, "full")
        assert await speaking == ["a", "b"]
        assert loop.active == 0


async def test_bug_in_a_step_ends_its_requests_and_not_the_thread() -> None:
    engine = BatchingEngine()
    async with running(engine, batch_size=2, batch_window_s=PATIENCE_S) as loop:
        tasks = [asyncio.create_task(words_of(loop, text)) for text in ("a bug", "b b")]
        for task in tasks:
            with pytest.raises(CosykitError, match="failed unexpectedly"):
                await task
        after = [asyncio.create_task(words_of(loop, text)) for text in ("c", "d")]
        assert await asyncio.gather(*after) == [["c"], ["d"]]


async def test_request_whose_listener_leaves_has_no_part_in_later_steps() -> None:
    engine = BatchingEngine()
    async with running(engine) as loop:
        chunks = loop.stream(SpeechRequest("w " * 1000))
        await anext(chunks)
        await chunks.aclose()
        assert await words_of(loop, "a b") == ["a", "b"]
    assert engine.steps[-2:] == [["b"], []]


async def test_resting_request_is_named_to_the_engine() -> None:
    engine = BatchingEngine(chunk_s=10.0)
    async with running(engine) as loop:
        slow = loop.stream(SpeechRequest("s " * 50))
        await anext(slow)
        assert await words_of(loop, "a b c d e f g h") == list("abcdefgh")
        assert sum(step.count("s") for step in engine.steps) <= 6
        rest = [chunk async for chunk in slow]
        assert sum(chunk.samples.size for chunk in rest) >= 48 * 10 * RATE
