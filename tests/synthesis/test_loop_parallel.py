"""Several threads speak at once, where the engine can."""

import asyncio
import threading
from queue import SimpleQueue

import pytest

from cosykit.errors import BusyError, CosykitError
from cosykit.seams import Capabilities, EngineInfo
from cosykit.synthesis.loop import Loop
from cosykit.types import AudioChunk, SpeechRequest
from tests.patience import PATIENCE_S
from tests.synthesis.counting_engine import CountingEngine
from tests.synthesis.looping import running, words_of


class ParallelEngine(CountingEngine):
    """A word that begins with `wait` holds the thread that speaks it.

    Attributes:
        begun: The words that hold a thread, in the order in which they began to.
    """

    info = EngineInfo("parallel", provider="cpu", precision="fp32", threads=2)
    capabilities = Capabilities(parallel=True)

    def __init__(self) -> None:
        super().__init__()
        self.begun: SimpleQueue[str] = SimpleQueue()

    def _speak(self, word: str) -> AudioChunk:
        if word.startswith("wait"):
            self.begun.put(word)
        return super()._speak(word)

    async def held_by(self, *words: str) -> None:
        """Wait until each of the words holds a thread."""
        for _ in words:
            began = await asyncio.to_thread(self.begun.get, timeout=PATIENCE_S)
            assert began in words


async def test_newcomer_does_not_wait_for_anybody_while_a_thread_is_free() -> None:
    engine = ParallelEngine()
    async with running(engine) as loop:
        held = asyncio.create_task(words_of(loop, "wait b"))
        await engine.held_by("wait")
        assert await words_of(loop, "x y z") == ["x", "y", "z"]
        engine.gate.set()
        assert await held == ["wait", "b"]


async def test_as_many_threads_speak_as_were_asked_for() -> None:
    engine = ParallelEngine()
    async with running(engine, parallel=3, batch_size=1) as loop:
        texts = ["wait0", "wait1", "wait2"]
        tasks = [asyncio.create_task(words_of(loop, text)) for text in texts]
        await engine.held_by(*texts)
        late = asyncio.create_task(words_of(loop, "late"))
        await asyncio.sleep(0)
        assert (loop.active, loop.waiting) == (3, 1)
        engine.gate.set()
        assert await asyncio.gather(*tasks) == [[text] for text in texts]
        assert await late == ["late"]


async def test_by_itself_an_engine_gets_as_many_threads_as_its_runs_have() -> None:
    engine = ParallelEngine()
    async with running(engine) as loop:
        tasks = [asyncio.create_task(words_of(loop, f"wait{n}")) for n in range(3)]
        await engine.held_by("wait0", "wait1")
        await asyncio.sleep(0)
        assert engine.begun.empty()
        engine.gate.set()
        await asyncio.gather(*tasks)


async def test_engine_that_cannot_is_spoken_with_by_one_thread() -> None:
    engine = CountingEngine()
    async with running(engine, parallel=4) as loop:
        speaking = [t for t in threading.enumerate() if t.name == "cosykit-engine"]
        assert len(speaking) == 1
        assert await words_of(loop, "a b c") == ["a", "b", "c"]


async def test_pieces_of_a_request_stay_in_order_whichever_thread_makes_them() -> None:
    async with running(ParallelEngine(), parallel=4) as loop:
        words = [f"w{number}" for number in range(100)]
        spoken = await asyncio.gather(
            *(words_of(loop, " ".join(words)) for _ in range(6))
        )
    assert spoken == [words] * 6


async def test_leaving_listener_has_only_its_own_run_ended() -> None:
    engine = ParallelEngine()
    async with running(engine) as loop:
        leaving = SpeechRequest("wait a")
        stays = asyncio.create_task(words_of(loop, "wait b"))
        await engine.held_by("wait")
        chunks = loop.stream(leaving)
        first = asyncio.ensure_future(anext(chunks))
        await engine.held_by("wait")
        first.cancel()
        await asyncio.wait([first])
        assert engine.cancelled.get_nowait() == leaving.request_id
        engine.gate.set()
        assert await stays == ["wait", "b"]
        assert await words_of(loop, "next") == ["next"]
    assert engine.cancelled.empty()
    assert "a" not in engine.spoken


async def test_bug_in_one_thread_leaves_the_others_alone() -> None:
    engine = ParallelEngine()
    async with running(engine) as loop:
        held = asyncio.create_task(words_of(loop, "wait b"))
        await engine.held_by("wait")
        with pytest.raises(CosykitError, match="failed unexpectedly"):
            await words_of(loop, "fine bug")
        engine.gate.set()
        assert await held == ["wait", "b"]
        assert loop.restarts == 0


async def test_closing_waits_for_all_threads() -> None:
    engine = ParallelEngine()
    loop = Loop(engine, queue_size=2, batch_size=2, timeout_s=PATIENCE_S)
    tasks = [asyncio.create_task(words_of(loop, f"wait{n}")) for n in range(2)]
    await engine.held_by("wait0", "wait1")
    closing = asyncio.create_task(loop.close(grace_s=0.01))
    for task in tasks:
        with pytest.raises(BusyError, match="closing"):
            await task
    assert not engine.closed.is_set()
    engine.gate.set()
    await closing
    assert engine.closed.is_set()
    assert not [t for t in threading.enumerate() if t.name == "cosykit-engine"]
