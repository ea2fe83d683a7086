"""What the log tells, and what it keeps to itself."""

import io
import json
import logging

import pytest

from cosykit.config.schema import LogSettings
from cosykit.server.logs import configure_logging
from tests.server.conftest import Running, running, settings_for
from tests.server.wire import request, wired

SECRET = "sesame"


@pytest.fixture
def log(
    untouched_logging: None, monkeypatch: pytest.MonkeyPatch, settings: LogSettings
) -> io.StringIO:
    """What the server writes to standard error."""
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    configure_logging(settings)
    return written


JSON = pytest.mark.parametrize("settings", [LogSettings(format="json")])
TEXT = pytest.mark.parametrize("settings", [LogSettings()])
BOTH = pytest.mark.parametrize("settings", [LogSettings(), LogSettings(format="json")])


def speech(text: str, request_id: str, **fields: str) -> bytes:
    body = json.dumps({"input": text, "response_format": "pcm", **fields}).encode()
    return request(body, f"X-Request-ID: {request_id}", "Connection: close")


def ask(server: Running, *requests: bytes) -> None:
    for each in requests:
        with wired(server.port) as wire:
            wire.send(each)
            wire.read_rest()


@BOTH
def test_nothing_that_users_send_is_logged(
    counting: Running, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_with_text(*words: object) -> None:
        raise KeyError(f"{SECRET} {words}")

    json_body = json.dumps({SECRET: 1}).encode()
    ask(
        counting,
        speech(f"{SECRET} w", "spoken"),
        speech(f"{SECRET} w", "voiced", voice=SECRET),
        speech(f"{SECRET} w", "modelled", model=SECRET),
        request(json_body, "Connection: close"),
        request(b"{" + SECRET.encode(), "Connection: close"),
        request(b"", "Connection: close", line=f"GET /{SECRET}%0a{SECRET} HTTP/1.1"),
        request(b"", "Connection: close", line=f"GET /v1/models/{SECRET} HTTP/1.1"),
        request(b"", "Connection: close", line=f"{SECRET.upper()} /health HTTP/1.1"),
        request(b"", "Connection: close", line=f"DELETE /{SECRET} HTTP/1.1"),
        request(SECRET.encode(), "Connection: close", SECRET),
    )
    monkeypatch.setattr(counting.engine, "_speak", fail_with_text)
    ask(counting, speech(f"{SECRET} w", "failed"))
    monkeypatch.setattr("cosykit.server.openai.start_speech", fail_with_text)
    ask(counting, speech(f"{SECRET} w", "failed-in-the-server"))
    assert "KeyError" in log.getvalue()
    assert "POST /v1/audio/speech 200" in log.getvalue()
    assert "DELETE unknown 404" in log.getvalue()
    assert SECRET not in log.getvalue().lower()


@TEXT
def test_field_that_was_wrong_is_logged(counting: Running, log: io.StringIO) -> None:
    ask(
        counting,
        speech("w", "id", model=SECRET),
        speech("w", "id", response_format=SECRET),
        speech("w", "id", **{SECRET: SECRET}),
    )
    lines = log.getvalue().splitlines()
    told = [line.partition("service: ")[2] for line in lines if "service: " in line]
    assert told == [
        "not_found (model)",
        "invalid_input (response_format)",
        "invalid_input",
    ]


@pytest.mark.parametrize("settings", [LogSettings(level="debug")])
def test_debugging_tells_all(counting: Running, log: io.StringIO) -> None:
    ask(counting, speech("w", "id", model=SECRET), speech("bug", "id"))
    assert SECRET in log.getvalue()
    assert "ZeroDivisionError: a bug in bug" in log.getvalue()


@JSON
def test_json_lines_bear_the_id_of_their_request_in_every_thread(
    counting: Running, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(counting, speech("bug", "in-the-engine"), speech("w", "fine"))
    monkeypatch.setattr("cosykit.server.openai.start_speech", None)
    ask(counting, speech("w", "in-the-server"))
    logging.getLogger("elsewhere").warning("a line\nof two: %s", "\ud800 é 好")
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    told = {(line["request_id"], line["logger"], line["level"]) for line in lines}
    assert told == {
        ("in-the-engine", "cosykit.synthesis.loop", "error"),
        ("in-the-engine", "cosykit.server.service", "info"),
        ("in-the-engine", "cosykit.access", "info"),
        ("fine", "cosykit.access", "info"),
        ("in-the-server", "cosykit.access", "error"),
        ("in-the-server", "cosykit.access", "info"),
        ("-", "elsewhere", "warning"),
    }
    ended = next(line for line in lines if line["request_id"] == "fine")
    assert (ended["method"], ended["route"]) == ("POST", "/v1/audio/speech")
    assert ended["status"] == 200 and ended["elapsed_ms"] >= 0
    traces = [line["exception"] for line in lines if "exception" in line]
    assert len(traces) == 2
    assert "in _speak" in traces[0]
    assert traces[0].endswith("\nZeroDivisionError")
    assert lines[-1]["message"].startswith("a line\nof two")


@TEXT
def test_stream_that_fails_is_told_of_once(counting: Running, log: io.StringIO) -> None:
    ask(counting, speech("w fail", "broken-off"))
    failure, answer = log.getvalue().splitlines()
    assert " INFO broken-off cosykit.server.service: " in failure
    assert " INFO broken-off cosykit.access: POST /v1/audio/speech 200 " in answer


@TEXT
def test_text_lines_bear_level_and_id(counting: Running, log: io.StringIO) -> None:
    ask(counting, speech("w", "trace-42"))
    (line,) = log.getvalue().splitlines()
    assert " INFO trace-42 cosykit.access: POST /v1/audio/speech 200 " in line


@BOTH
@pytest.mark.parametrize(("key", "name"), [("hush", "anna"), ("plain", "")])
def test_lines_bear_the_name_of_a_key_but_never_the_key(
    settings: LogSettings, log: io.StringIO, key: str, name: str
) -> None:
    keys = [{"key": "hush", "name": "anna"}, "plain"]
    with running(settings_for("counting", server={"api_keys": keys})) as server:
        asked = f"Authorization: Bearer {key}", "X-Request-ID: i-7", "Connection: close"
        ask(server, request(b"{}", *asked))
    written = log.getvalue()
    assert key not in written
    lines = [line for line in written.splitlines() if "i-7" in line]
    expected = f'"key": "{name}"' if settings.format == "json" else f" i-7/{name}"
    assert lines
    assert all(expected.rstrip("/") in line for line in lines)


@TEXT
def test_traceback_tells_causes_but_no_messages(
    untouched_logging: None, log: io.StringIO
) -> None:
    try:
        try:
            raise ValueError(SECRET)
        except ValueError as error:
            raise RuntimeError(SECRET) from error
    except RuntimeError:
        logging.getLogger("cosykit").exception("something failed")
    lines = log.getvalue().splitlines()
    assert lines[0].endswith("something failed")
    assert "ValueError" in lines
    assert lines[-1] == "RuntimeError"
    assert "raise ValueError(SECRET)" in log.getvalue()
    assert SECRET not in log.getvalue()


@pytest.mark.parametrize("settings", [LogSettings(level="error")])
def test_level_holds_for_all(counting: Running, log: io.StringIO) -> None:
    ask(counting, speech("w", "id"), b"nonsense\r\n\r\n")
    assert log.getvalue() == ""
