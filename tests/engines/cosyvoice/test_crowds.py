"""Many requests of every kind at once: none hangs, none hears another."""

import asyncio
import gc
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import numpy as np
import psutil
import pytest

from cosykit.config.schema import Settings
from cosykit.engines.cosyvoice.engine import CosyVoiceEngine
from cosykit.engines.cosyvoice.open import open_engine
from cosykit.errors import BusyError, CosykitError, InputError, ModelLoadError
from cosykit.synthesis import job as job_module
from cosykit.synthesis.loop import Loop
from cosykit.types import Recording, Samples, SpeechRequest

TEXTS = (
    "一",
    "你好。",
    "今天天气很好，我们去公园散步。",
    "Good morning, everyone. " * 3,
    "第一句话说的是春天。" * 8,
    "안녕하세요. 반갑습니다.",
    "こんにちは、世界。",
)
WRONG = ("", "。。。", "🙂")


@pytest.fixture
def crowded(settings: Settings) -> Iterator[CosyVoiceEngine]:
    engine = open_engine(settings.model, settings)
    yield engine
    engine.close()


@asynccontextmanager
async def running(engine: CosyVoiceEngine, batch_size: int = 4) -> AsyncIterator[Loop]:
    loop = Loop(engine, queue_size=100, batch_size=batch_size, timeout_s=60)
    try:
        yield loop
    finally:
        await loop.close()


@dataclass
class Listener:
    """Someone who listens to a request in a way of their own.

    Attributes:
        leaves_after: Chunks that are enough for them.
        turns: Turns of the event loop that they rest after each chunk.
    """

    request: SpeechRequest
    leaves_after: int = 10**6
    turns: int = 0
    heard: list[Samples] = field(default_factory=list)
    failure: CosykitError | None = None

    async def listen(self, loop: Loop) -> None:
        chunks = loop.stream(self.request)
        try:
            async for chunk in chunks:
                self.heard.append(chunk.samples)
                if len(self.heard) == self.leaves_after:
                    return
                for _ in range(self.turns):
                    await asyncio.sleep(0)
        except CosykitError as error:
            self.failure = error
        finally:
            await chunks.aclose()


def listener(number: int, rng: random.Random) -> Listener:
    """Make up a request and its listener."""
    noise = np.random.default_rng(number).standard_normal
    prompts = (
        *8 * (None,),
        Recording(noise(32_000, np.float32) * np.float32(0.2), 16_000, "noise"),
        Recording(noise(100, np.float32), 16_000),
        Recording(np.full(32_000, np.nan, np.float32), 16_000),
    )
    request = SpeechRequest(
        rng.choice(TEXTS if rng.random() < 0.9 else WRONG),
        voice=rng.choice((*8 * (None,), "en_male", "nobody")),
        speed=rng.choice((1.0, 1.0, 0.7, 4.0)),
        instructions=rng.choice((*8 * (None,), "gently", "x" * 5000)),
        prompt=rng.choice(prompts),
        seed=number,
        whole=rng.random() < 0.3,
    )
    leaves_after = rng.choice((10**6, 10**6, 1, 2))
    return Listener(request, leaves_after, rng.choice((0, 0, 50)))


async def test_crowd_hears_what_each_would_hear_alone(
    crowded: CosyVoiceEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_module, "_MOST_UNHEARD_S", 0.5)
    rng = random.Random(3)
    listeners = [listener(number, rng) for number in range(60)]
    async with running(crowded) as loop:
        tasks = [asyncio.create_task(each.listen(loop)) for each in listeners[:40]]
        while not any(each.heard for each in listeners):
            await asyncio.sleep(0)
        # Newcomers, while others stream; and some who go before they hear a thing.
        tasks += [asyncio.create_task(each.listen(loop)) for each in listeners[40:]]
        for task in rng.sample(tasks, 5):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        whole = [
            each
            for each, task in zip(listeners, tasks, strict=True)
            if not (task.cancelled() or each.failure or each.leaves_after < 10)
        ]
        assert len(whole) > 10
        for each in whole:
            alone = Listener(each.request)
            await alone.listen(loop)
            heard = np.concatenate(each.heard)
            assert np.abs(heard - np.concatenate(alone.heard)).max() < 1e-3
        failures = [each.failure for each in listeners if each.failure]
        assert failures
        assert all(isinstance(failure, InputError) for failure in failures)
        assert (loop.waiting, loop.active, crowded.under_way) == (0, 0, 0)


async def test_closing_in_the_middle_leaves_nobody_waiting(
    crowded: CosyVoiceEngine,
) -> None:
    listeners = [Listener(SpeechRequest(TEXTS[4], seed=n)) for n in range(20)]
    async with running(crowded) as loop:
        tasks = [asyncio.create_task(each.listen(loop)) for each in listeners]
        while not listeners[0].heard:
            await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert {type(each.failure) for each in listeners} == {BusyError}
    with pytest.raises(ModelLoadError, match="closed"):
        crowded.voices()


async def test_slow_readers_give_their_slot_to_others(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_module, "_MOST_UNHEARD_S", 0.1)
    one = settings.engine.model_copy(update={"batch_size": 1})
    engine = open_engine(settings.model, settings.model_copy(update={"engine": one}))
    async with running(engine, batch_size=1) as loop:
        slow = [loop.stream(SpeechRequest(TEXTS[4] * 2, seed=n)) for n in range(3)]
        for stream in slow:
            # They listen to a first chunk, and to nothing more.
            await anext(stream)
        quick = Listener(SpeechRequest(TEXTS[1], seed=1))
        await quick.listen(loop)
        assert quick.heard
        for stream in slow:
            await stream.aclose()


async def test_memory_does_not_grow_with_requests(crowded: CosyVoiceEngine) -> None:
    process, sizes = psutil.Process(), list[int]()
    async with running(crowded) as loop:
        for _ in range(3):
            listeners = [Listener(SpeechRequest(TEXTS[1], seed=n)) for n in range(50)]
            await asyncio.gather(*(each.listen(loop) for each in listeners))
            del listeners
            gc.collect()
            sizes.append(process.memory_info().rss)
    assert sizes[-1] - sizes[0] < 8_000_000
