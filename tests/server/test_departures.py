"""Whoever goes away, or does not listen, takes no work with him and holds up no one."""

import json
import threading

import httpx
import pytest

from cosykit.audio.encode import Encoder
from cosykit.audio.formats import AudioFormat
from cosykit.server import speech as speech_module
from cosykit.types import Samples
from tests.patience import PATIENCE_S, until
from tests.server.conftest import Running, running, settings_for
from tests.server.wire import request, wired


def speech(text: str, **fields: str) -> bytes:
    return json.dumps({"input": text, "response_format": "pcm", **fields}).encode()


def assert_idle(server: Running) -> None:
    """Check that the next request finds the engine free."""
    server.engine.gate.set()
    with server.connected() as client:
        answer = client.post("/v1/audio/speech", content=speech("next"), headers=JSON)
    assert answer.status_code == 200
    assert (server.loop.active, server.loop.waiting) == (0, 0)


JSON = {"Content-Type": "application/json"}
BOTH = [
    ("POST /v1/audio/speech HTTP/1.1", "input"),
    ("POST /v1/tts HTTP/1.1", "text"),
]


@pytest.mark.parametrize(("line", "field"), BOTH)
@pytest.mark.parametrize("text", ["wait", "w wait w"])
def test_client_that_leaves_cancels_its_request(
    counting: Running, line: str, field: str, text: str
) -> None:
    with wired(counting.port) as wire:
        body = json.dumps({field: text}).encode()
        wire.send(request(body, "X-Request-ID: not-unique", line=line))
        assert counting.engine.held.wait(PATIENCE_S)
        wire.break_off()
    # Clients may send one id twice, but only one of them has left.
    assert counting.engine.cancelled.get(timeout=PATIENCE_S) != "not-unique"
    assert_idle(counting)
    assert counting.engine.spoken.count("w") <= 1


def test_queued_client_that_leaves_never_reaches_the_engine(counting: Running) -> None:
    with wired(counting.port) as first, wired(counting.port) as second:
        first.send(request(speech("wait")))
        assert counting.engine.held.wait(PATIENCE_S)
        second.send(request(speech("queued")))
        with counting.connected() as client:
            until(lambda: client.get("/health").json()["queue"]["waiting"] == 1)
            second.break_off()
            until(lambda: client.get("/health").json()["queue"]["waiting"] == 0)
        counting.engine.gate.set()
        first.read_until(b"0\r\n\r\n")
    assert_idle(counting)
    assert "queued" not in counting.engine.spoken


@pytest.mark.parametrize("fields", [{}, {"stream_format": "sse"}])
def test_client_that_leaves_in_mid_stream_cancels_its_request(
    counting: Running, fields: dict[str, str]
) -> None:
    with wired(counting.port) as wire:
        wire.send(request(speech("w wait " + "w " * 50, **fields)))
        wire.read_until(b"\r\n\r\n")
        assert counting.engine.held.wait(PATIENCE_S)
        wire.break_off()
    assert counting.engine.cancelled.get(timeout=PATIENCE_S)
    assert_idle(counting)
    assert counting.engine.spoken.count("w") == 1


def test_pipelined_request_does_not_hide_that_its_client_left(
    counting: Running,
) -> None:
    with wired(counting.port) as wire:
        wire.send(request(speech("w " * 2000)) * 2)
        wire.read_until(b"\r\n\r\n")
        wire.break_off()
    assert counting.engine.cancelled.get(timeout=PATIENCE_S)
    assert_idle(counting)
    assert counting.engine.spoken.count("w") < 2000


def test_encoder_at_work_is_not_closed_under_its_client_who_left(
    counting: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    class SlowEncoder(Encoder):
        def encode(self, samples: Samples) -> bytes:
            at_work.set()
            assert go_on.wait(PATIENCE_S)
            assert not closed.is_set()
            return super().encode(samples)

        def close(self) -> None:
            closed.set()
            super().close()

    monkeypatch.setattr(speech_module, "Encoder", SlowEncoder)
    with wired(counting.port) as wire:
        wire.send(request(speech("w wait", response_format="flac")))
        assert at_work.wait(PATIENCE_S)
        wire.break_off()
        with counting.connected() as client:
            until(lambda: client.get("/health").json()["queue"]["active"] < 2)
    assert not closed.is_set()
    go_on.set()
    assert closed.wait(PATIENCE_S)
    assert counting.engine.cancelled.get(timeout=PATIENCE_S)


def test_slow_readers_do_not_keep_others_from_being_served(counting: Running) -> None:
    counting.engine.chunk_s = 20.0
    with (
        wired(counting.port, receive_buffer=4096) as slow,
        counting.connected() as client,
    ):
        slow.send(request(speech("w " * 200)))
        slow.read_until(b"\r\n\r\n")
        answer = client.post("/v1/audio/speech", content=speech("quick"), headers=JSON)
        assert answer.status_code == 200
        assert len(counting.engine.spoken) < 100
        slow.break_off()
    assert counting.engine.cancelled.get(timeout=PATIENCE_S)
    assert_idle(counting)


def test_reader_that_takes_nothing_is_given_up(plugins: None) -> None:
    settings = settings_for("counting", engine={"timeout_s": 0.5})
    with running(settings) as server:
        server.engine.chunk_s = 20.0
        with wired(server.port, receive_buffer=4096) as wire:
            wire.send(request(speech("w " * 200)))
            assert server.engine.cancelled.get(timeout=PATIENCE_S)
            assert_idle(server)


def test_upload_that_breaks_off_is_no_error(
    counting: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with wired(counting.port) as wire:
        wire.send(request(speech("never"))[:-3])
        wire.break_off()
    assert_idle(counting)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_health_is_told_while_the_engine_and_an_encoder_work(
    counting: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work, go_on = threading.Event(), threading.Event()

    def encode(encoder: Encoder, samples: Samples) -> bytes:
        at_work.set()
        assert go_on.wait(PATIENCE_S)
        return original(encoder, samples)

    original = Encoder.encode
    monkeypatch.setattr(Encoder, "encode", encode)
    answers: list[httpx.Response] = []

    def post() -> None:
        fields = {"text": "w wait", "format": "flac"}
        answers.append(httpx.post(f"{counting.url}/v1/tts", json=fields, timeout=60))

    posting = threading.Thread(target=post)
    posting.start()
    with counting.connected() as client:
        assert at_work.wait(PATIENCE_S)
        assert counting.engine.held.wait(PATIENCE_S)
        health = client.get("/health").json()
        assert health["queue"]["active"] == 1
        go_on.set()
        counting.engine.gate.set()
    posting.join()
    assert answers[0].json()["success"]


def test_encoder_is_opened_off_the_event_loop(
    counting: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[str] = set()

    class WatchedEncoder(Encoder):
        def __init__(
            self,
            audio_format: AudioFormat,
            *,
            input_rate: int,
            sample_rate: int | None = None,
            opus_bit_rate: int | None = None,
        ) -> None:
            threads.add(threading.current_thread().name)
            super().__init__(
                audio_format,
                input_rate=input_rate,
                sample_rate=sample_rate,
                opus_bit_rate=opus_bit_rate,
            )

    monkeypatch.setattr(speech_module, "Encoder", WatchedEncoder)
    assert_idle(counting)
    assert threads
    assert all(name.startswith("asyncio_") for name in threads)
