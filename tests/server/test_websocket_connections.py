"""WebSockets as no client library would open or leave them."""

import json
import time
from collections.abc import Iterator

import pytest

from cosykit.server.loading import resident_bytes
from cosykit.server.websocket_speech import PATH
from tests.server.conftest import Running, running, settings_for
from tests.server.wire import Wire, wired

SILENCE_S = 1
HANDSHAKE = (
    "Host: test",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
)


@pytest.fixture(scope="module")
def impatient(plugins: None) -> Iterator[Running]:
    """A server that holds nothing for long; what it sends fills up at once."""
    limits = {"silence_s": SILENCE_S}
    settings = settings_for("tone", server=limits, engine={"timeout_s": 1})
    with running(settings, send_buffer=4096) as server:
        yield server


def handshake(*headers: str, method: str = "GET", path: str = PATH) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", *HANDSHAKE, *headers, "", ""]
    return "\r\n".join(lines).encode()


def frame(message: object) -> bytes:
    """Write a text frame that its mask leaves as it is."""
    content = json.dumps(message).encode()
    return b"\x81\xfe" + len(content).to_bytes(2) + bytes(4) + content


@pytest.mark.parametrize("path", ["/v1/audio/speech/wss", "/v1/audio/speech", "/"])
def test_path_that_takes_no_websockets_is_told(
    impatient: Running, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", "cosykit.access"), wired(impatient.port) as wire:
        wire.send(handshake(path=path))
        answer = wire.read_rest()
    assert "WS unknown 404" in caplog.text
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert f"{path} takes no WebSockets".encode() in answer
    assert PATH.encode() in answer


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (handshake("Content-Length: 3") + b"abc", 400),
        (handshake("Content-Length: 3", method="POST") + b"abc", 400),
        (handshake("Transfer-Encoding: chunked") + b"0\r\n\r\n", 400),
        (handshake(*(f"X-{number}: x" for number in range(200))), 431),
    ],
)
def test_what_is_no_handshake_is_refused_and_not_held(
    impatient: Running, sent: bytes, status: int
) -> None:
    with wired(impatient.port) as wire:
        wire.send(sent)
        assert wire.read_rest().startswith(f"HTTP/1.1 {status} ".encode())


def test_server_stops_under_what_is_no_handshake(
    plugins: None, caplog: pytest.LogCaptureFixture
) -> None:
    with running(settings_for("tone")) as server, wired(server.port) as wire:
        wire.send(handshake("Content-Length: 3") + b"abc")
        wire.read_until(b"\r\n\r\n")
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize(
    ("path", "messages"),
    [
        (
            PATH,
            [
                {"type": "start", "response_format": "pcm"},
                {"type": "text", "text": "hum " * 1000},
                {"type": "finish"},
            ],
        ),
        (
            "/api-ws/v1/inference",
            [
                {
                    "header": {"action": "run-task", "task_id": "1"},
                    "payload": {
                        "model": "cosyvoice-v2",
                        "input": {"text": "hum " * 1000},
                        "parameters": {"format": "pcm"},
                    },
                },
                {
                    "header": {"action": "finish-task", "task_id": "1"},
                    "payload": {"input": {}},
                },
            ],
        ),
    ],
)
def test_client_that_takes_nothing_is_let_go_of(
    impatient: Running, path: str, messages: list[object]
) -> None:
    with wired(impatient.port, receive_buffer=4096) as wire:
        wire.send(handshake(path=path))
        wire.read_until(b"\r\n\r\n")
        for message in messages:
            wire.send(frame(message))
        wait_until_let_go_of(wire)


def wait_until_let_go_of(wire: Wire) -> None:
    """Send until nobody is there any more."""
    began = time.monotonic()
    ping = b"\x89\x80" + bytes(4)
    while time.monotonic() - began < 20:
        try:
            wire.send(ping)
        except ConnectionError:
            return
        time.sleep(0.05)
    raise AssertionError("the server holds on to it")


def test_message_of_too_many_pieces_is_refused(tone: Running) -> None:
    with wired(tone.port) as wire:
        wire.send(handshake())
        wire.read_until(b"\r\n\r\n")
        begin, go_on = b"\x01\x80" + bytes(4), b"\x00\x80" + bytes(4)
        wire.send(begin + 20_000 * go_on)
        assert b"too many pieces" in wire.read_rest()


def test_pings_of_a_client_that_hears_no_answer_take_no_memory(tone: Running) -> None:
    ping = b"\x89\xfd" + bytes(4) + bytes(125)
    before = resident_bytes()
    with wired(tone.port, receive_buffer=4096) as wire:
        wire.send(handshake())
        wire.read_until(b"\r\n\r\n")
        for _ in range(500):
            wire.send(1000 * ping)
        assert resident_bytes() - before < 30_000_000


def test_refused_client_leaves_no_error_in_the_log(
    plugins: None, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_for("tone", server={"api_keys": ["secret"]})
    with running(settings) as server, wired(server.port) as wire:
        wire.send(handshake(path="/api-ws/v1/inference"))
        assert wire.read_rest().startswith(b"HTTP/1.1 401 ")
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
