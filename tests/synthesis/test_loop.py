"""The loop shares one engine thread among requests, fairly and within bounds."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing

import numpy as np
import pytest

from cosykit.errors import BusyError, DeadlineError, InputError
from cosykit.synthesis.loop import Loop
from cosykit.types import (
    AudioChunk,
    Capabilities,
    EngineInfo,
    SpeechRequest,
    Voice,
)

RATE = 24_000


class CountingEngine:
    """Speaks the words of a text as chunks of silence; `gate` holds it back."""

    info = EngineInfo("counting", provider="cpu", precision="fp32", threads=1)
    sample_rate = RATE
    capabilities = Capabilities()

    def __init__(self, chunk_s: float = 0.1) -> None:
        self.chunk_s = chunk_s
        self.gate = threading.Event()
        self.gate.set()
        self.spoken: list[str] = []
        self.threads: set[str] = set()
        self.cancelled: list[str] = []
        self.closed_early: list[str] = []
        self.closed = False

    def voices(self) -> Sequence[Voice]:
        return (Voice("only", "Only", ("en",)),)

    def synthesize(self, request: SpeechRequest) -> Iterator[AudioChunk]:
        words = request.text.split()
        if not words:
            raise InputError("there is nothing to say", hint="Send some text")
        try:
            for word in words:
                if word == "bug":
                    raise ZeroDivisionError("a bug")
                assert self.gate.wait(10)
                self.threads.add(threading.current_thread().name)
                self.spoken.append(word)
                silence = np.zeros(round(self.chunk_s * RATE), np.float32)
                yield AudioChunk(silence, RATE, word)
        except GeneratorExit:
            self.closed_early.append(request.request_id)
            raise

    def cancel(self, request_id: str) -> None:
        self.cancelled.append(request_id)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def engine() -> CountingEngine:
    return CountingEngine()


@pytest.fixture
async def loop(engine: CountingEngine) -> AsyncIterator[Loop]:
    running = Loop(engine, queue_size=2, batch_size=2, timeout_s=10)
    yield running
    engine.gate.set()
    await running.close()


async def words_of(loop: Loop, text: str) -> list[str]:
    return [
        chunk.text async for chunk in loop.stream(SpeechRequest(text)) if chunk.text
    ]


async def test_request_is_spoken_in_order_by_the_engine_thread(
    loop: Loop, engine: CountingEngine
) -> None:
    assert await words_of(loop, "one two three") == ["one", "two", "three"]
    assert engine.threads == {"cosykit-engine"}


async def test_short_request_does_not_wait_for_a_long_one(
    loop: Loop, engine: CountingEngine
) -> None:
    engine.gate.clear()
    long = asyncio.create_task(words_of(loop, " ".join(f"w{n}" for n in range(20))))
    short = asyncio.create_task(words_of(loop, "short"))
    await asyncio.sleep(0)
    engine.gate.set()
    await short
    assert engine.spoken.index("short") <= 2
    assert len(await long) == 20


async def test_full_queue_refuses_at_once(loop: Loop, engine: CountingEngine) -> None:
    engine.gate.clear()
    tasks = [asyncio.create_task(words_of(loop, f"r{n}")) for n in range(2)]
    while loop.active < 2:
        await asyncio.sleep(0.001)
    tasks += [asyncio.create_task(words_of(loop, f"r{n}")) for n in range(2, 4)]
    await asyncio.sleep(0)
    with pytest.raises(BusyError, match="2 requests are waiting"):
        await words_of(loop, "too much")
    engine.gate.set()
    assert await asyncio.gather(*tasks) == [["r0"], ["r1"], ["r2"], ["r3"]]


async def test_leaving_listener_cancels_its_request(
    loop: Loop, engine: CountingEngine
) -> None:
    request = SpeechRequest(" ".join(f"w{n}" for n in range(1000)))
    async with aclosing(loop.stream(request)) as chunks:
        async for _ in chunks:
            break
    assert engine.cancelled == [request.request_id]
    assert await words_of(loop, "next") == ["next"]
    assert engine.closed_early == [request.request_id]
    assert loop.active == 0


async def test_input_error_reaches_the_listener(loop: Loop) -> None:
    with pytest.raises(InputError, match="nothing to say"):
        await words_of(loop, " ")


async def test_bug_fails_its_request_and_no_other(
    loop: Loop, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ZeroDivisionError):
        await words_of(loop, "fine bug")
    assert loop.failures == 1
    assert await words_of(loop, "still here") == ["still", "here"]


async def test_request_that_takes_too_long_ends_with_its_deadline() -> None:
    engine = CountingEngine()
    engine.gate.clear()
    loop = Loop(engine, queue_size=2, batch_size=2, timeout_s=0.05)
    with pytest.raises(DeadlineError, match=r"0\.05 s"):
        await words_of(loop, "never")
    engine.gate.set()
    await loop.close()


async def test_slow_listener_bounds_the_audio_made_ahead() -> None:
    engine = CountingEngine(chunk_s=10.0)
    loop = Loop(engine, queue_size=2, batch_size=2, timeout_s=10)
    request = SpeechRequest(" ".join(f"w{n}" for n in range(50)))
    async with aclosing(loop.stream(request)) as chunks:
        await anext(chunks)
        # Another request is served meanwhile, so the thread did not wait for us.
        assert await words_of(loop, "other") == ["other"]
        assert len(engine.spoken) <= 6
        rest = [chunk.text async for chunk in chunks]
    assert [word for word in rest if word] == [f"w{n}" for n in range(1, 50)]
    await loop.close()


async def test_closing_finishes_what_runs_and_refuses_newcomers(
    engine: CountingEngine,
) -> None:
    loop = Loop(engine, queue_size=2, batch_size=2, timeout_s=10)
    running = asyncio.create_task(words_of(loop, "a b c"))
    await asyncio.sleep(0)
    closing = asyncio.create_task(loop.close(grace_s=10))
    await asyncio.sleep(0)
    with pytest.raises(BusyError, match="closing"):
        await words_of(loop, "late")
    assert await running == ["a", "b", "c"]
    await closing
    assert engine.closed


async def test_closing_without_grace_fails_what_runs(engine: CountingEngine) -> None:
    engine.gate.clear()
    loop = Loop(engine, queue_size=2, batch_size=2, timeout_s=10)
    running = asyncio.create_task(words_of(loop, "a b c"))
    await asyncio.sleep(0)
    closing = asyncio.create_task(loop.close(grace_s=0.01))
    with pytest.raises(BusyError, match="closing"):
        await running
    engine.gate.set()
    await closing
    assert engine.closed
