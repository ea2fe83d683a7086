"""Many clients of every kind at once, at a server that speaks with CosyVoice."""

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from cosykit.config.schema import RuntimeSettings
from tests.server.conftest import Running, running, settings_for

MODEL = "cosyvoice-300m-instruct"
TEXTS = (
    "你好。",
    "今天天气很好，我们去公园散步。",
    "Good morning. " * 4,
    "春天。" * 20,
)


@pytest.fixture(scope="module")
def server(cosyvoice_models: Path) -> Iterator[Running]:
    settings = settings_for(MODEL, engine={"batch_size": 4}).model_copy(
        update={
            "models_dir": cosyvoice_models,
            "runtime": RuntimeSettings(provider="cpu", precision="fp32", threads=1),
        }
    )
    with running(settings) as server:
        yield server


async def spoken(
    client: httpx.AsyncClient, body: dict[str, object], pieces: int = 10**6
) -> bytes:
    """Listen to some pieces of an answer, and hang up."""
    heard: list[bytes] = []
    async with client.stream("POST", "/v1/audio/speech", json=body) as answer:
        async for piece in answer.aiter_raw():
            heard.append(piece)
            if len(heard) == pieces:
                break
    return b"".join(heard) if answer.status_code == 200 else b""


def body(number: int, rng: random.Random) -> dict[str, object]:
    voice = rng.choice((None, None, "en_male", "nobody"))
    text = rng.choice(TEXTS)
    return {"input": text, "voice": voice, "seed": number, "response_format": "pcm"}


async def test_crowd_of_clients_is_served_and_leaves_nothing_behind(
    server: Running,
) -> None:
    rng = random.Random(1)
    bodies = [body(number, rng) for number in range(40)]
    pieces = [rng.choice((10**6, 10**6, 1)) for _ in bodies]
    limits = httpx.Limits(max_connections=100)
    async with httpx.AsyncClient(
        base_url=server.url, timeout=60, limits=limits
    ) as client:
        tasks = [
            asyncio.create_task(spoken(client, *each))
            for each in zip(bodies, pieces, strict=True)
        ]
        for task in rng.sample(tasks, 5):
            asyncio.get_running_loop().call_later(rng.random(), task.cancel)
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        for request, most, answer in zip(bodies, pieces, answers, strict=True):
            if isinstance(answer, BaseException):
                assert isinstance(answer, asyncio.CancelledError)
            elif request["voice"] == "nobody":
                assert answer == b""
            elif most > 1:
                alone = await spoken(client, request)
                first, second = (np.frombuffer(a, "<i2") for a in (answer, alone))
                assert np.abs(first.astype(int) - second).max() < 33
        metrics = (await client.get("/metrics")).text
    for name in ("cosykit_queue_depth", "cosykit_batch_size"):
        assert f"{name} 0.0" in metrics
