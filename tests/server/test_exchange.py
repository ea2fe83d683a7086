"""A better engine takes the place of another, and no request is dropped."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from cosykit.server.exchange import Exchange, Serving
from cosykit.synthesis.loop import Loop
from cosykit.types import SpeechRequest
from tests.patience import PATIENCE_S
from tests.synthesis.counting_engine import CountingEngine


def serving(engine: CountingEngine, fallback: str = "") -> Serving:
    loop = Loop(engine, queue_size=4, batch_size=4, timeout_s=PATIENCE_S)
    return Serving(loop, fallback)


@pytest.fixture
async def exchange() -> AsyncIterator[Exchange]:
    exchange = Exchange()
    yield exchange
    await exchange.close(grace_s=0)


async def said(exchange: Exchange, text: str) -> list[str]:
    assert exchange.current
    async with exchange.hold(exchange.current) as held:
        chunks = held.loop.stream(SpeechRequest(text))
        return [chunk.text async for chunk in chunks if chunk.text]


async def test_engine_that_nobody_holds_is_closed_when_another_comes(
    exchange: Exchange,
) -> None:
    old, new = CountingEngine(), CountingEngine()
    exchange.put(serving(old, "the better one is broken"))
    exchange.put(serving(new))
    assert await asyncio.to_thread(old.closed.wait, PATIENCE_S)
    assert not new.closed.is_set()
    assert exchange.current
    assert exchange.current.fallback == ""


async def test_request_ends_with_the_engine_that_it_began_with(
    exchange: Exchange,
) -> None:
    old, new = CountingEngine(), CountingEngine()
    exchange.put(serving(old))
    begun = asyncio.create_task(said(exchange, "a wait c"))
    assert await asyncio.to_thread(old.held.wait, PATIENCE_S)
    exchange.put(serving(new))
    assert exchange.active == 1
    assert await said(exchange, "x y") == ["x", "y"]
    assert not old.closed.is_set()
    old.gate.set()
    assert await begun == ["a", "wait", "c"]
    assert await asyncio.to_thread(old.closed.wait, PATIENCE_S)
    assert (old.spoken, new.spoken) == (["a", "wait", "c"], ["x", "y"])


async def test_closing_frees_engines_that_are_still_held(exchange: Exchange) -> None:
    old, new = CountingEngine(), CountingEngine()
    exchange.put(serving(old))
    assert exchange.current
    async with exchange.hold(exchange.current):
        exchange.put(serving(new))
        await exchange.close(grace_s=0)
    assert old.closed.is_set()
    assert new.closed.is_set()
