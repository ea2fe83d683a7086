"""HTTP as it is really sent: by hand, in pieces, several at once, or wrongly."""

import httpx
import pytest

from tests.server.conftest import Running
from tests.server.wire import request, wired

DO = b'{"input": "do", "response_format": "pcm"}'
END_OF_CHUNKS = b"0\r\n\r\n"


def test_connection_is_kept_for_the_next_request(tone: Running) -> None:
    with wired(tone.port) as wire:
        for _ in range(3):
            wire.send(request(DO))
            assert b" 200 " in wire.read_until(b"\r\n\r\n")
            wire.read_until(END_OF_CHUNKS)


def test_pipelined_requests_are_answered_in_order(tone: Running) -> None:
    bad = request(b"{}")
    health = request(line="GET /health HTTP/1.1")
    with wired(tone.port) as wire:
        wire.send(request(DO) + bad + health + request(DO))
        assert b" 200 " in wire.read_until(b"\r\n\r\n")
        wire.read_until(END_OF_CHUNKS)
        assert wire.read_answer()[0] == 400
        assert wire.read_answer()[0] == 200
        wire.read_until(END_OF_CHUNKS)


def test_request_may_trickle_in(tone: Running) -> None:
    with wired(tone.port) as wire:
        for byte in request(DO):
            wire.send(bytes([byte]))
        assert b" 200 " in wire.read_until(b"\r\n\r\n")
        wire.read_until(END_OF_CHUNKS)


def test_old_client_gets_audio_up_to_the_end_of_the_connection(tone: Running) -> None:
    with wired(tone.port) as wire:
        wire.send(request(DO, line="POST /v1/audio/speech HTTP/1.0"))
        head = wire.read_until(b"\r\n\r\n")
        assert b"chunked" not in head.lower()
        assert len(wire.read_rest()) == 2 * 2 * 0.08 * 24_000


def test_client_that_waits_for_a_word_before_its_body_gets_it(tone: Running) -> None:
    with wired(tone.port) as wire:
        ask = request(DO, "Expect: 100-continue")
        wire.send(ask.removesuffix(DO))
        assert wire.read_until(b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
        wire.send(DO)
        assert b" 200 " in wire.read_until(b"\r\n\r\n")


@pytest.mark.parametrize(
    "sent",
    [
        b"\0\1\2\r\n\r\n",
        b"POST\r\n\r\n",
        request(DO, "Content-Length: 3"),
        request(DO, "Content-Length: -3", with_length=False),
        request(DO, "Content-Length: 1e3", with_length=False),
        request(DO, "X Bad: 1"),
        request(DO, "X-Bad: a\0b"),
        request(b"zz\r\n", "Transfer-Encoding: chunked", with_length=False),
    ],
)
def test_what_is_not_http_is_refused_and_logged_in_one_line(
    tone: Running, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with wired(tone.port) as wire:
        wire.send(sent)
        assert wire.read_rest().startswith(b"HTTP/1.1 4")
    assert not [record for record in caplog.records if record.exc_info]


def test_endless_header_is_cut_short(tone: Running) -> None:
    with wired(tone.port) as wire, pytest.raises(ConnectionError):
        wire.send(request(DO, "X-Long: " + "x" * 50_000_000))
    with tone.connected() as client:
        assert client.get("/health").status_code == 200


def test_body_longer_than_declared_is_not_taken_for_more(tone: Running) -> None:
    with wired(tone.port) as wire:
        wire.send(request(b"", f"Content-Length: {len(DO)}", with_length=False) + DO)
        wire.read_until(END_OF_CHUNKS)
        wire.send(b"left over\r\n\r\n")
        assert b" 400 " in wire.read_until(b"\r\n")


def test_nothing_is_taken_for_a_request_after_a_body_of_two_lengths(
    tone: Running,
) -> None:
    smuggled = request(line="GET /health HTTP/1.1")
    with wired(tone.port) as wire:
        wire.send(request(b"0\r\n\r\n" + smuggled, "Transfer-Encoding: chunked"))
        assert wire.read_rest().count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("path", ["/health", "/v1/models", "/docs", "/"])
def test_head_has_the_headers_but_no_body(client: httpx.Client, path: str) -> None:
    answer = client.head(path)
    assert answer.status_code == 200
    assert answer.content == b""
    assert int(answer.headers["content-length"]) > 0


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "BREW"])
def test_wrong_method_is_refused_with_the_right_one(
    client: httpx.Client, method: str
) -> None:
    answer = client.request(method, "/v1/audio/speech")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"
    if method != "HEAD":
        assert answer.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("path", ["/nope", "/v1/audio", "/%00", "/%ff%0d%0aX-Bad:%201"])
def test_unknown_path_is_refused_in_json(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"
    assert "x-bad" not in answer.headers


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("trace-42.a_B", True),
        ("x" * 64, True),
        ("x" * 65, False),
        ("", False),
        ("no spaces please", False),
        ("a\tb", False),
        ("né", False),
        ("１２", False),
    ],
)
def test_request_id_is_kept_when_it_is_harmless(
    client: httpx.Client, given: str, kept: bool
) -> None:
    answer = client.get("/health", headers={b"X-Request-ID": given.encode()})
    assert (answer.headers["x-request-id"] == given) is kept
    assert answer.headers["x-request-id"].isascii()


def test_every_answer_has_a_request_id(client: httpx.Client) -> None:
    for path in ("/health", "/nope", "/v1/audio/speech", "/v1/models/nope"):
        assert client.get(path).headers.get_list("x-request-id", split_commas=True)
