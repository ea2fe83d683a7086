"""The loop shares one engine thread among requests, fairly and within bounds."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from contextvars import ContextVar

import pytest

from cosykit.errors import BusyError, CosykitError, DeadlineError, InputError
from cosykit.synthesis import loop as loop_module
from cosykit.synthesis.loop import Loop
from cosykit.types import AudioChunk, SpeechRequest
from tests.patience import PATIENCE_S
from tests.synthesis.counting_engine import CountingEngine
from tests.synthesis.looping import held, running, words_of


@pytest.fixture
def engine() -> CountingEngine:
    return CountingEngine()


@pytest.fixture
async def loop(engine: CountingEngine) -> AsyncIterator[Loop]:
    async with running(engine, queue_size=2, batch_size=2) as opened:
        yield opened


async def test_request_is_spoken_in_order_by_the_engine_thread(
    loop: Loop, engine: CountingEngine
) -> None:
    assert await words_of(loop, "one two three") == ["one", "two", "three"]
    assert engine.threads == {"cosykit-engine"}


async def test_short_request_does_not_wait_for_a_long_one(
    loop: Loop, engine: CountingEngine
) -> None:
    long = asyncio.create_task(words_of(loop, "wait " + "w " * 19))
    await held(engine)
    short = asyncio.create_task(words_of(loop, "short"))
    await asyncio.sleep(0)
    engine.gate.set()
    await short
    assert engine.spoken.index("short") <= 2
    assert len(await long) == 20


async def test_newcomers_go_first_in_the_order_of_their_coming(
    engine: CountingEngine,
) -> None:
    async with running(engine, queue_size=9, batch_size=9) as loop:
        texts = ["wait old", "a a", "b b", "c c"]
        tasks = [asyncio.create_task(words_of(loop, texts[0]))]
        await held(engine)
        tasks += [asyncio.create_task(words_of(loop, text)) for text in texts[1:]]
        await asyncio.sleep(0)
        engine.gate.set()
        await asyncio.gather(*tasks)
        assert engine.spoken[:5] == ["wait", "a", "b", "c", "old"]


async def test_full_queue_refuses_at_once(loop: Loop, engine: CountingEngine) -> None:
    tasks = [asyncio.create_task(words_of(loop, f"wait{n}")) for n in range(2)]
    await held(engine)
    tasks += [asyncio.create_task(words_of(loop, f"wait{n}")) for n in range(2, 4)]
    await asyncio.sleep(0)
    with pytest.raises(BusyError, match="2 requests are waiting"):
        await words_of(loop, "too much")
    engine.gate.set()
    spoken = await asyncio.gather(*tasks)
    assert spoken == [["wait0"], ["wait1"], ["wait2"], ["wait3"]]


async def test_leaving_listener_cancels_its_request(
    loop: Loop, engine: CountingEngine
) -> None:
    request = SpeechRequest("w " * 1000)
    async with aclosing(loop.stream(request)) as chunks:
        await anext(chunks)
    assert engine.cancelled.get_nowait() == request.request_id
    assert await words_of(loop, "next") == ["next"]
    assert engine.ended.get_nowait() == request.request_id
    assert loop.active == 0


async def test_request_that_never_began_is_not_cancelled_in_the_engine(
    loop: Loop, engine: CountingEngine
) -> None:
    tasks = [asyncio.create_task(words_of(loop, f"wait{n}")) for n in range(2)]
    await held(engine)
    queued = asyncio.create_task(words_of(loop, "queued"))
    await asyncio.sleep(0)
    queued.cancel()
    await asyncio.wait([queued])
    assert loop.waiting == 0
    engine.gate.set()
    await asyncio.gather(*tasks)
    assert engine.cancelled.empty()
    assert "queued" not in engine.spoken


async def test_input_error_reaches_the_listener(loop: Loop) -> None:
    with pytest.raises(InputError, match="nothing to say"):
        await words_of(loop, " ")


async def test_bug_fails_its_request_and_no_other(
    loop: Loop, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(CosykitError, match="failed unexpectedly") as caught:
        await words_of(loop, "fine bug")
    assert caught.value.http_status == 500
    assert caplog.records[0].exc_info
    assert await words_of(loop, "still here") == ["still", "here"]


class LeavingEngine(CountingEngine):
    """Wants to end the process, as an engine that calls `sys.exit` does."""

    def synthesize(self, request: SpeechRequest) -> Iterator[AudioChunk]:
        yield from super().synthesize(request)
        raise SystemExit(3)


async def test_thread_survives_an_engine_that_wants_to_exit() -> None:
    async with running(LeavingEngine()) as loop:
        for _ in range(2):
            with pytest.raises(CosykitError, match="failed unexpectedly"):
                await words_of(loop, "one")


async def test_engine_logs_in_the_context_of_the_request(loop: Loop) -> None:
    name: ContextVar[str] = ContextVar("name", default="nobody")
    seen: list[str] = []

    class Watch(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(name.get())

    watch = Watch()
    loop_module._log.addHandler(watch)
    try:
        for each in ("first", "second"):
            name.set(each)
            with pytest.raises(CosykitError):
                await words_of(loop, "fine bug")
    finally:
        loop_module._log.removeHandler(watch)
    assert seen == ["first", "second"]


async def test_request_that_takes_too_long_ends_with_its_deadline() -> None:
    engine = CountingEngine()
    async with running(engine, batch_size=1, timeout_s=0.05) as loop:
        speaking = asyncio.create_task(words_of(loop, "wait"))
        queued = asyncio.create_task(words_of(loop, "queued"))
        for late in (speaking, queued):
            with pytest.raises(DeadlineError, match=r"0\.05 s"):
                await late
        assert loop.waiting == 0
        engine.gate.set()
        assert engine.cancelled.qsize() == 1


async def test_time_that_a_request_has_waited_before_counts(
    engine: CountingEngine,
) -> None:
    async with running(engine, timeout_s=1e6) as loop, asyncio.timeout(PATIENCE_S):
        with pytest.raises(DeadlineError):
            async for _ in loop.stream(SpeechRequest("wait"), waited_s=1e6):
                raise AssertionError
        engine.gate.set()


async def test_time_that_the_listener_takes_does_not_count(
    loop: Loop, engine: CountingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Clock:
        now = 0.0

        def monotonic(self) -> float:
            return self.now

    clock = Clock()
    monkeypatch.setattr(loop_module, "time", clock)
    async with aclosing(loop.stream(SpeechRequest("a wait c"))) as chunks:
        await anext(chunks)
        clock.now += 2 * PATIENCE_S
        asyncio.get_running_loop().call_soon(engine.gate.set)
        rest = [chunk.text async for chunk in chunks if chunk.text]
    assert rest == ["wait", "c"]


async def test_slow_listener_bounds_the_audio_made_ahead() -> None:
    engine = CountingEngine(chunk_s=10.0)
    async with running(engine) as loop:
        request = SpeechRequest(" ".join(f"w{n}" for n in range(50)))
        async with aclosing(loop.stream(request)) as chunks:
            await anext(chunks)
            # Another request is served meanwhile, so the thread did not wait for us.
            assert await words_of(loop, "other") == ["other"]
            assert len(engine.spoken) <= 6
            rest = [chunk.text async for chunk in chunks]
        assert [word for word in rest if word] == [f"w{n}" for n in range(1, 50)]


async def test_slow_listeners_leave_their_places_to_others() -> None:
    engine = CountingEngine(chunk_s=40.0)
    async with running(engine, queue_size=2, batch_size=1) as loop:
        slow = [loop.stream(SpeechRequest("w " * 50)) for _ in range(3)]
        await anext(slow[0])
        await anext(slow[1])
        assert await words_of(loop, "quick") == ["quick"]
        # As many may rest as may wait, so that memory stays bounded.
        await anext(slow[2])
        late = asyncio.create_task(words_of(loop, "late"))
        await asyncio.sleep(0)
        assert (loop.active, loop.waiting) == (3, 1)
        for chunks in slow:
            await chunks.aclose()
        assert await late == ["late"]


async def test_closing_finishes_what_runs_and_refuses_newcomers(
    engine: CountingEngine,
) -> None:
    loop = Loop(engine, queue_size=2, batch_size=2, timeout_s=PATIENCE_S)
    speaking = asyncio.create_task(words_of(loop, "a b c"))
    await asyncio.sleep(0)
    closing = asyncio.create_task(loop.close(grace_s=PATIENCE_S))
    await asyncio.sleep(0)
    with pytest.raises(BusyError, match="closing"):
        await words_of(loop, "late")
    assert await speaking == ["a", "b", "c"]
    await closing
    assert engine.closed.is_set()


async def test_closing_without_grace_fails_what_runs(engine: CountingEngine) -> None:
    loop = Loop(engine, queue_size=2, batch_size=2, timeout_s=PATIENCE_S)
    speaking = asyncio.create_task(words_of(loop, "wait b c"))
    await held(engine)
    closing = asyncio.create_task(loop.close(grace_s=0.01))
    with pytest.raises(BusyError, match="closing"):
        await speaking
    engine.gate.set()
    await closing
    assert engine.closed.is_set()
