"""Whatever an engine does, its thread lives on and only those concerned fail."""

import asyncio
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import aclosing
from functools import partial
from queue import SimpleQueue
from typing import cast

import numpy as np
import pytest

from cosykit.errors import BusyError, CosykitError, OutOfMemoryError
from cosykit.seams import Progress
from cosykit.synthesis import lasting
from cosykit.synthesis import loop as loops
from cosykit.synthesis.job import Job
from cosykit.types import AudioChunk, Samples, SpeechRequest
from tests.patience import PATIENCE_S
from tests.synthesis.counting_engine import RATE, CountingEngine
from tests.synthesis.looping import held, running, words_of


class Deadly(CountingEngine):
    """A batching engine that may answer a step with what is no answer at all.

    Attributes:
        answer: Given by the next step; None steps as it should.
        failing: How many steps in a row end so.
    """

    answer: object = None
    failing = 0

    def __init__(self) -> None:
        super().__init__()
        self._requests: dict[str, SpeechRequest] = {}

    def begin(self, request: SpeechRequest) -> None:
        self._requests[request.request_id] = request

    def step(self, resting: Collection[str] = ()) -> Sequence[Progress]:
        names = tuple(self._requests)
        progress = [
            Progress(name, self._speak(self._requests[name].text)) for name in names
        ]
        self._requests.clear()
        if self.failing:
            self.failing -= 1
            return cast(Sequence[Progress], self.answer)
        return [*progress, *(Progress(name, None) for name in names)]


async def test_thread_that_dies_begins_anew_and_only_what_it_spoke_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    engine, restarts = Deadly(), SimpleQueue[None]()
    engine.answer, engine.failing = 5, 1
    note = partial(restarts.put, None)
    async with running(engine, batch_size=1, on_restart=note) as loop:
        failing = asyncio.create_task(words_of(loop, "wait"))
        await held(engine)
        waiting = [asyncio.create_task(words_of(loop, f"w{n}")) for n in range(3)]
        await asyncio.sleep(0)
        engine.gate.set()
        with pytest.raises(CosykitError, match="failed unexpectedly"):
            await failing
        assert await asyncio.gather(*waiting) == [["w0"], ["w1"], ["w2"]]
        assert loop.restarts == restarts.qsize() == 1
    assert "begins anew" in caplog.text
    assert engine.cancelled.get_nowait()
    assert engine.closed.is_set()


async def test_thread_that_dies_again_and_again_pauses_longer_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lasting, "_FIRST_PAUSE_S", 0.01)
    engine = Deadly()
    engine.answer, engine.failing = object(), 4
    async with running(engine) as loop:
        began = time.monotonic()
        for number in range(4):
            with pytest.raises(CosykitError, match="failed unexpectedly"):
                await words_of(loop, f"w{number}")
        assert await words_of(loop, "after") == ["after"]
        assert time.monotonic() - began >= 0.01 * (1 + 2 + 4 + 8)
        assert loop.restarts == 4


async def test_closing_does_not_wait_for_a_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lasting, "_FIRST_PAUSE_S", 2 * PATIENCE_S)
    engine = Deadly()
    engine.answer, engine.failing = 5, 1
    async with running(engine) as loop:
        with pytest.raises(CosykitError):
            await words_of(loop, "w")
        await asyncio.wait_for(loop.close(), PATIENCE_S)
    assert not [t for t in threading.enumerate() if t.name == "cosykit-engine"]


async def test_step_that_never_ends_does_not_keep_a_server_from_closing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(loops, "_LAST_STEP_S", 0.01)
    engine = CountingEngine()
    async with running(engine) as loop:
        speaking = asyncio.create_task(words_of(loop, "wait"))
        await held(engine)
        await asyncio.wait_for(loop.close(), PATIENCE_S)
        with pytest.raises(BusyError, match="closing"):
            await speaking
        # It works with its sessions still.
        assert not engine.closed.is_set()
    assert "left behind" in caplog.text


async def test_grace_is_not_for_a_step_that_nobody_listens_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loops, "_LAST_STEP_S", 0.01)
    engine = CountingEngine()
    async with running(engine) as loop:
        speaking = asyncio.create_task(words_of(loop, "wait"))
        await held(engine)
        speaking.cancel()
        await asyncio.wait({speaking})
        await asyncio.wait_for(loop.close(grace_s=3600), PATIENCE_S)


async def test_engine_that_cannot_be_closed_does_not_keep_a_server_from_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Stuck(CountingEngine):
        def close(self) -> None:
            raise ValueError("a plug-in's")

    async with running(Stuck()) as loop:
        await loop.close()
    assert "cannot be closed" in caplog.text


async def test_bug_in_our_own_books_kills_no_thread_for_good(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def note_given(job: Job, duration_s: float, now: float) -> None:
        monkeypatch.undo()
        raise SystemExit

    monkeypatch.setattr(Job, "note_given", note_given)
    async with running(CountingEngine()) as loop:
        with pytest.raises(CosykitError, match="failed unexpectedly"):
            await words_of(loop, "a b")
        assert await words_of(loop, "c d") == ["c", "d"]


class Odd(CountingEngine):
    """Speaks `nan` as what is no number, `shape` as what is no audio."""

    def _speak(self, word: str) -> AudioChunk:
        chunk = super()._speak(word)
        odd: dict[str, Samples] = {
            "nan": np.full(RATE, np.nan, np.float32),
            "shape": np.zeros((RATE, 2), np.float32),
        }
        return AudioChunk(odd.get(word, chunk.samples), RATE, word)


@pytest.mark.parametrize(
    ("word", "message"), [("nan", "NaN"), ("shape", "failed unexpectedly")]
)
async def test_audio_that_is_none_fails_its_request_and_no_other(
    word: str, message: str
) -> None:
    engine, failing = Odd(), SpeechRequest(f"fine {word} never")
    spoken: list[str] = []
    async with running(engine) as loop:
        long = asyncio.create_task(words_of(loop, "wait " + "w " * 20))
        await held(engine)

        async def hear() -> None:
            async with aclosing(loop.stream(failing)) as chunks:
                async for chunk in chunks:
                    spoken.append(chunk.text)

        hearing = asyncio.create_task(hear())
        await asyncio.sleep(0)
        engine.gate.set()
        with pytest.raises(CosykitError, match=message):
            await hearing
        assert spoken == ["fine"]
        assert len(await long) == 21
        assert "never" not in engine.spoken
        assert engine.cancelled.get_nowait() == failing.request_id
        assert loop.restarts == 0


class Hungry(CountingEngine):
    """Has too little memory for one word."""

    def synthesize(self, request: SpeechRequest) -> Iterator[AudioChunk]:
        for chunk in super().synthesize(request):
            if chunk.text == "huge":
                raise MemoryError
            yield chunk


async def test_want_of_memory_fails_the_request_that_it_hits() -> None:
    engine = Hungry()
    async with running(engine) as loop:
        other = asyncio.create_task(words_of(loop, "wait b c d"))
        await held(engine)
        hungry = asyncio.create_task(words_of(loop, "a huge"))
        await asyncio.sleep(0)
        engine.gate.set()
        with pytest.raises(OutOfMemoryError, match="not enough memory"):
            await hungry
        assert await other == ["wait", "b", "c", "d"]
        assert loop.restarts == 0
