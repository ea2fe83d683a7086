"""Clients that leave, dawdle or say nothing."""

import resource
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.faults.conftest import Serve, Server, body_of
from tests.patience import PATIENCE_S

Record = Callable[[str, object], None]


@pytest.mark.fault("a client goes away in the middle of its audio")
def test_client_that_leaves_frees_the_engine(
    serve: Serve, record_property: Record
) -> None:
    with serve(engine={"batch_size": 1}) as server, server.connected() as client:
        with client.stream(
            "POST", "/v1/audio/speech", json=body_of("slow " * 400)
        ) as a:
            next(a.iter_raw())
        seconds = server.wait_until_idle()
        assert server.speak("next").status_code == 200
    record_property("outcome", f"cancelled within {seconds:.1f} s, the next is served")


@contextmanager
def raw_request(server: Server, text: str) -> Iterator[socket.socket]:
    body = str(body_of(text)).replace("'", '"').encode()
    with socket.create_connection(server.address) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(PATIENCE_S)
        connection.sendall(
            b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
            % (len(body), body)
        )
        yield connection


@pytest.mark.fault("a client reads one byte a second")
def test_slow_reader_holds_up_nobody_and_fills_no_memory(
    serve: Serve, record_property: Record
) -> None:
    with serve(engine={"batch_size": 1}) as server, ExitStack() as readers:
        server.speak("warm up")
        before = server.process.memory_info().rss
        slow = [readers.enter_context(raw_request(server, "long")) for _ in range(4)]
        for _ in range(3):
            for reader in slow:
                assert len(reader.recv(1)) == 1
            began = time.monotonic()
            assert server.speak("meanwhile").status_code == 200
            time.sleep(max(0.0, 1 - (time.monotonic() - began)))
        grown_mb = (server.process.memory_info().rss - before) / 1e6
    # Ten minutes of speech are 29 MB each.
    assert grown_mb < 40
    record_property(
        "outcome", f"others are served meanwhile; four of them cost {grown_mb:.0f} MB"
    )


@pytest.mark.fault("1,000 connections send nothing")
def test_silent_connections_keep_nobody_out_and_are_closed(
    serve: Serve, record_property: Record
) -> None:
    allow_open_files(1200)
    with serve(server={"silence_s": 2.0}) as server, ExitStack() as silent:
        connections = [
            silent.enter_context(socket.create_connection(server.address))
            for _ in range(1000)
        ]
        began = time.monotonic()
        assert server.speak("meanwhile").status_code == 200
        answered_s = time.monotonic() - began
        for connection in connections:
            connection.settimeout(PATIENCE_S)
            assert connection.recv(1) in (b"", b"H")  # closed, perhaps with a 408
        files = server.process.num_fds()
        assert files < 100
    record_property(
        "outcome",
        f"another is answered after {answered_s:.2f} s; all closed by silence_s",
    )


def allow_open_files(count: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, hard), hard))
