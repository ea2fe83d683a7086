"""Health, as grpc_health_probe and Kubernetes ask for it."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from cosykit.config.schema import Settings
from cosykit.engines.synthesizer import Synthesizer
from cosykit.errors import ModelLoadError
from cosykit.server.ports import further_ports
from cosykit.server.service import SpeechService
from tests.patience import PATIENCE_S
from tests.server.grpc.conftest import Client, grpc_settings
from tests.synthesis.counting_engine import CountingEngine

Status = health_pb2.HealthCheckResponse
NAMES = ("", "cosykit.v1.Speech")


@pytest.mark.parametrize("name", NAMES)
def test_probe_finds_a_server_that_is_ready(hum: Client, name: str) -> None:
    stub = health_pb2_grpc.HealthStub(hum.channel)
    request = health_pb2.HealthCheckRequest(service=name)
    assert stub.Check(request, timeout=PATIENCE_S).status == Status.SERVING


def test_probe_of_an_unknown_service_finds_nothing(hum: Client) -> None:
    stub = health_pb2_grpc.HealthStub(hum.channel)
    request = health_pb2.HealthCheckRequest(service="nobody")
    with pytest.raises(grpc.RpcError) as caught:
        stub.Check(request, timeout=PATIENCE_S)
    assert isinstance(caught.value, grpc.Call)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


class Opening:
    """Loads a model when the test lets it."""

    def __init__(self, error: Exception | None = None) -> None:
        self.gate = threading.Event()
        self._error = error

    def __call__(self, settings: Settings) -> Synthesizer:
        assert self.gate.wait(PATIENCE_S)
        if self._error:
            raise self._error
        return Synthesizer(CountingEngine())


@asynccontextmanager
async def watched(opening: Opening) -> AsyncGenerator["asyncio.Queue[int]"]:
    """Watch the health of a server while it loads, and until it has closed."""
    service = SpeechService(grpc_settings("counting"), open_model=opening)
    told: asyncio.Queue[int] = asyncio.Queue()

    async def watch() -> None:
        stub = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest(service="cosykit.v1.Speech")
        async for answer in stub.Watch(request):
            told.put_nowait(answer.status)

    async with further_ports(service):
        address = f"127.0.0.1:{service.ports['grpc']}"
        async with grpc.aio.insecure_channel(address) as channel:
            watching = asyncio.create_task(watch())
            service.start()
            try:
                yield told
            finally:
                opening.gate.set()
                await service.close()
                watching.cancel()
                await asyncio.wait({watching})


async def next_of(told: "asyncio.Queue[int]") -> int:
    async with asyncio.timeout(PATIENCE_S):
        return await told.get()


async def test_health_follows_the_model() -> None:
    opening = Opening()
    async with watched(opening) as told:
        assert await next_of(told) == Status.NOT_SERVING
        opening.gate.set()
        assert await next_of(told) == Status.SERVING
    assert await next_of(told) == Status.NOT_SERVING


async def test_model_that_cannot_be_loaded_does_not_serve() -> None:
    opening = Opening(ModelLoadError("it is broken", hint="Mend it"))
    async with watched(opening) as told:
        assert await next_of(told) == Status.NOT_SERVING
        opening.gate.set()
    assert told.empty()
