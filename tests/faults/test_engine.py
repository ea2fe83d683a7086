"""Engines whose thread dies, whose graphs give no numbers, who get no memory."""

import resource
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.conftest import Serve

Record = Callable[[str, object], None]


@pytest.mark.fault("the engine's thread dies")
def test_engine_thread_that_dies_is_begun_anew(
    serve: Serve, record_property: Record
) -> None:
    with (
        serve("dying", engine={"batch_size": 2}) as server,
        ThreadPoolExecutor() as clients,
    ):
        long = clients.submit(server.speak, "word " * 20 + "die")
        with server.connected() as client:
            assert long.exception() or long.result().status_code >= 500
            after = server.speak("hello")
            metrics = client.get("/metrics").text
    assert after.status_code == 200
    assert "cosykit_engine_restarts_total 1.0" in metrics
    record_property("outcome", "its requests get an error, the next one is spoken")


@pytest.mark.fault("a graph returns NaN")
def test_nan_is_an_error_and_no_noise(serve: Serve, record_property: Record) -> None:
    with serve() as server:
        answer = server.speak("nan")
        assert answer.status_code == 500
        message = answer.json()["error"]["message"]
        assert server.speak("hello").status_code == 200
    assert "NaN" in message
    record_property("outcome", f"500: {message}")


@pytest.mark.fault("memory runs out")
@pytest.mark.skipif(sys.platform == "darwin", reason="limits are not enforced there")
def test_request_that_gets_no_memory_ends_alone(
    serve: Serve, record_property: Record
) -> None:
    with serve(engine={"batch_size": 2}) as server, ThreadPoolExecutor() as clients:
        limit = server.process.memory_info().vms + (1 << 30)
        server.process.rlimit(resource.RLIMIT_AS, (limit, limit))
        other = clients.submit(server.speak, "slow " * 40)
        hungry = server.speak("hungry")
        assert hungry.status_code == 503, hungry.text
        assert other.result().status_code == 200
        assert len(other.result().content) == 40 * 24_000
        assert server.speak("hello").status_code == 200
    message = hungry.json()["error"]["message"]
    record_property("outcome", f"503: {message}; others go on")
