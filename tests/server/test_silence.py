"""Connections that send nothing, or not enough, keep nobody else out."""

import resource
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from cosykit.server import connections
from cosykit.server.connections import allow_many_files
from tests.patience import until
from tests.server.conftest import Running, open_connections, running, settings_for
from tests.server.wire import Wire, request, wired

DO = b'{"input": "do", "response_format": "pcm"}'
END_OF_CHUNKS = b"0\r\n\r\n"
SILENCE_S = 1


@pytest.fixture(scope="module")
def strict(plugins: None) -> Iterator[Running]:
    """A server that waits a second for a request."""
    server = {"silence_s": float(SILENCE_S)}
    settings = settings_for("counting", server=server, engine={"batch_size": 1})
    with running(settings) as it:
        yield it


def closed_after_s(wire: Wire, began: float) -> float:
    with suppress(ConnectionError):
        wire.read_rest()
    return time.monotonic() - began


def test_connection_is_closed_when_no_request_comes(strict: Running) -> None:
    head = request(DO)[:40]
    with ExitStack() as stack:
        silent, kept, halting = (
            stack.enter_context(wired(strict.port)) for _ in range(3)
        )
        kept.send(request(DO))
        kept.read_until(END_OF_CHUNKS)
        halting.send(head)
        began = time.monotonic()
        for wire in (silent, kept, halting):
            assert SILENCE_S / 2 < closed_after_s(wire, began) < 10


def test_head_that_trickles_in_gains_no_time(strict: Running) -> None:
    with wired(strict.port) as wire:
        began = time.monotonic()
        with pytest.raises(ConnectionError):
            for byte in request(DO, "X-Long: " + 5000 * "x"):
                wire.send(bytes([byte]))
                time.sleep(0.001)
        assert SILENCE_S / 2 < time.monotonic() - began < 10


def test_body_may_take_its_time_but_not_stop(strict: Running) -> None:
    content = request(DO)
    with wired(strict.port) as wire:
        began = time.monotonic()
        wire.send(content[: -len(DO)])
        for byte in DO[:4]:
            time.sleep(0.3)
            wire.send(bytes([byte]))
        assert 1.2 + SILENCE_S / 2 < closed_after_s(wire, began) < 10


def test_connection_that_waits_for_its_answer_is_left_alone(strict: Running) -> None:
    body = b'{"input": "w wait w", "response_format": "pcm"}'
    with wired(strict.port) as wire, wired(strict.port) as silent:
        wire.send(request(body))
        wire.read_until(b"\r\n\r\n")
        # Longer than any connection may be silent.
        closed_after_s(silent, time.monotonic())
        strict.engine.gate.set()
        wire.read_until(END_OF_CHUNKS)
        # The next request is waited for anew.
        wire.send(request(DO))
        wire.read_until(END_OF_CHUNKS)


def test_silent_crowd_makes_room_for_whoever_asks(
    strict: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "most_connections", lambda: 20)
    with ExitStack() as stack:
        crowd = [stack.enter_context(wired(strict.port)) for _ in range(30)]
        for _ in range(3):
            with wired(strict.port) as wire:
                wire.send(request(DO))
                wire.read_until(END_OF_CHUNKS)
        # Those that came first went first.
        assert closed_after_s(crowd[0], time.monotonic()) < SILENCE_S / 2


def test_limit_of_open_files_is_raised_as_far_as_it_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
    try:
        allow_many_files()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        assert soft == (hard if 0 < hard < 65536 else 65536)
        assert connections.most_connections() == soft * 3 // 4
        allow_many_files()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (soft, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_client_that_takes_nothing_loses_its_connection(plugins: None) -> None:
    settings = settings_for(
        "counting", server={"silence_s": 0.2}, engine={"timeout_s": 0.5}
    )
    with (
        running(settings, send_buffer=4096) as server,
        wired(server.port, receive_buffer=4096) as wire,
    ):
        server.engine.chunk_s = 20.0
        wire.send(request(b'{"input": "w w w w", "response_format": "pcm"}'))
        wire.read_until(b"\r\n\r\n")
        until(lambda: not open_connections(server.port))
