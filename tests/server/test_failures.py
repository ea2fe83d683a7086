"""What clients see when the engine, the time or the room fails them."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from cosykit.audio.encode import Encoder
from cosykit.server.loading import Loader
from cosykit.server.service import SpeechService
from tests.patience import PATIENCE_S
from tests.server.conftest import Running, running, settings_for
from tests.server.wire import request, wired

SPEECH = "/v1/audio/speech"


def fields(text: str, stream_format: str = "audio") -> dict[str, str]:
    return {"input": text, "response_format": "pcm", "stream_format": stream_format}


@pytest.fixture
def hasty(plugins: None) -> Iterator[Running]:
    """A server that gives up soon, speaking one request at a time."""
    engine = {"batch_size": 1, "timeout_s": 0.2}
    with running(settings_for("counting", engine=engine)) as server:
        yield server


@pytest.mark.parametrize("text", ["bug", "fail"])
def test_failure_before_the_first_audio_has_a_status(
    counting: Running, text: str
) -> None:
    with counting.connected() as client:
        for path, field in ((SPEECH, "input"), ("/v1/tts", "text")):
            answer = client.post(path, json={field: text})
            assert answer.status_code == (500 if text == "bug" else 503)
            assert "x-request-id" in answer.headers
            assert "ZeroDivision" not in answer.text
        assert client.post(SPEECH, json=fields("fine")).status_code == 200


@pytest.mark.parametrize("text", ["w bug", "w fail"])
def test_audio_that_fails_half_way_does_not_end_cleanly(
    counting: Running, text: str
) -> None:
    with counting.connected() as client:
        with pytest.raises(httpx.RemoteProtocolError, match="incomplete"):
            client.post(SPEECH, json=fields(text))
        assert client.post("/v1/tts", json={"text": text}).json()["success"] is False
        figures = client.get("/metrics").text
    code = "internal_error" if "bug" in text else "resource_unavailable"
    assert f'cosykit_errors_total{{code="{code}"}} 2.0' in figures


@pytest.mark.parametrize(
    ("text", "code"), [("w bug", "internal_error"), ("w fail", "resource_unavailable")]
)
def test_events_that_fail_half_way_end_with_an_error(
    counting: Running, text: str, code: str
) -> None:
    with counting.connected() as client:
        answer = client.post(SPEECH, json=fields(text, "sse"))
    events = [json.loads(part[6:]) for part in answer.text.split("\n\n") if part]
    assert [event["type"] for event in events] == ["speech.audio.delta", "error"]
    assert events[-1]["error"]["code"] == code


def test_bug_of_a_route_is_answered_and_its_connection_kept(
    counting: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(service: SpeechService) -> None:
        raise ZeroDivisionError

    health = request(b"", "X-Request-ID: trace", line="GET /health HTTP/1.1")
    with wired(counting.port) as wire, monkeypatch.context() as patch:
        patch.setattr(SpeechService, "fallback", property(broken))
        for _ in range(2):
            wire.send(health)
            head = wire.read_until(b"\r\n\r\n")
            assert b" 500 " in head
            assert b"x-request-id: trace" in head
            assert b"internal_error" in wire.read_until(b"}}")
    with counting.connected() as client:
        metrics = client.get("/metrics").text
    assert 'cosykit_requests_total{route="/health",status="500"} 2.0' in metrics


def test_route_that_finds_too_little_memory_says_so(
    counting: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_out(service: SpeechService) -> None:
        raise MemoryError

    monkeypatch.setattr(SpeechService, "fallback", property(run_out))
    with counting.connected() as client:
        answer = client.get("/health")
    assert answer.status_code == 503
    assert "not enough memory" in answer.text


def test_bug_in_the_middle_of_an_answer_breaks_it_off(
    counting: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Encoder, "finish", None)
    with counting.connected() as client:
        with pytest.raises(httpx.RemoteProtocolError, match="incomplete"):
            client.post(SPEECH, json=fields("w"))
        assert client.get("/health").json()["queue"]["active"] == 0


def test_deadline_before_the_first_audio_has_a_status(hasty: Running) -> None:
    async def post_twice() -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=hasty.url, timeout=PATIENCE_S) as client:
            posts = [client.post(SPEECH, json=fields("wait")) for _ in range(2)]
            return await asyncio.gather(*posts)

    # One of them is spoken, the other one waits.
    for answer in asyncio.run(post_twice()):
        assert answer.status_code == 504
        assert answer.json()["error"]["code"] == "timeout"
        assert int(answer.headers["retry-after"]) >= 1


def test_deadline_while_speaking_breaks_the_audio_off(hasty: Running) -> None:
    with hasty.connected() as client:
        with pytest.raises(httpx.RemoteProtocolError, match="incomplete"):
            client.post(SPEECH, json=fields("w wait"))
        hasty.engine.gate.set()
        assert client.post(SPEECH, json=fields("w")).status_code == 200


def test_deadline_while_speaking_ends_the_events_with_an_error(hasty: Running) -> None:
    with hasty.connected() as client:
        answer = client.post(SPEECH, json=fields("w wait", "sse"))
    assert '"code": "timeout"' in answer.text


def test_crowd_is_served_up_to_the_queue_and_the_rest_sent_away(
    plugins: None,
) -> None:
    settings = settings_for("counting", engine={"batch_size": 8, "queue_size": 64})
    with running(settings) as server, server.connected() as client:
        answers = asyncio.run(post_all(server, 200))
        statuses = Counter(answer.split()[1] for answer in answers)
        assert statuses == {b"200": 72, b"503": 128}
        for answer in answers:
            if b" 503 " in answer:
                assert b"retry-after: 1" in answer
                assert b"64 requests are waiting already" in answer
            else:
                assert answer.endswith(b"0\r\n\r\n")
                assert len(answer) > 2 * 4800
        assert (server.loop.active, server.loop.waiting) == (0, 0)
        metrics = client.get("/metrics").text
    requests = 'cosykit_requests_total{route="/v1/audio/speech",status="%d"} %.1f'
    assert requests % (200, 72) in metrics
    assert requests % (503, 128) in metrics
    assert 'cosykit_errors_total{code="busy"} 128.0' in metrics
    assert "cosykit_audio_seconds_total 14.4" in metrics
    assert "cosykit_real_time_factor_count 72.0" in metrics


async def post_all(server: Running, count: int) -> list[bytes]:
    """Send requests at once, and open the gate when the rest was sent away."""

    async def post(text: str) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        body = json.dumps(fields(text)).encode()
        writer.write(request(body, "Connection: close"))
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer

    posts = [asyncio.create_task(post(f"wait{n} w")) for n in range(count)]
    for done, answer in enumerate(asyncio.as_completed(posts), start=1):
        await answer
        if done == count - 72:
            server.engine.gate.set()
    return await asyncio.gather(*posts)


def test_server_without_a_model_lives_but_is_not_ready(tmp_path: Path) -> None:
    broken = tmp_path / "lite"
    broken.mkdir()
    (broken / "manifest.json").write_text("{")
    settings = settings_for("lite").model_copy(update={"models_dir": tmp_path})
    with running(settings) as server, server.connected() as client:
        answer = client.post(SPEECH, json={"input": "hello"})
        assert answer.status_code == 503
        assert "cosykit install lite --repair" in answer.json()["error"]["message"]
        assert client.get("/ready").status_code == 503
        assert client.get("/health").json()["state"] == "failed"
        assert "--repair" in client.get("/health").json()["failure"]


def test_client_does_not_wait_for_a_model_for_ever(
    plugins: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_for("counting", engine={"timeout_s": 0.1})

    async def never(loader: Loader, open_model: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Loader, "load", never)
    with running(settings) as server, server.connected() as client:
        answer = client.post(SPEECH, json={"input": "hello"})
        assert answer.status_code == 503
        assert "the model is loading" in answer.json()["error"]["message"]
        assert answer.headers["retry-after"] == "5"
        assert client.get("/health").json()["state"] == "loading"
