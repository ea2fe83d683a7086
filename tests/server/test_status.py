"""What operators ask a server."""

import logging
import time
from pathlib import Path

import httpx
import pytest

from cosykit.config.schema import ServerSettings, Settings
from cosykit.server.app import OPERATIONS
from tests.server.conftest import running


def wait_until_ready(client: httpx.Client) -> None:
    for _ in range(500):
        if client.get("/ready").status_code == 200:
            return
        time.sleep(0.01)
    raise AssertionError("never ready")


def test_health_tells_how_the_engine_runs(client: httpx.Client) -> None:
    wait_until_ready(client)
    answer = client.get("/health").json()
    assert answer["status"] == "alive"
    assert (answer["model"], answer["provider"], answer["precision"]) == (
        "tone",
        "cpu",
        "fp32",
    )
    assert answer["queue"] == {"waiting": 0, "active": 0, "limit": 64}


def test_server_without_a_model_lives_but_is_not_ready(tmp_path: Path) -> None:
    broken = tmp_path / "lite"
    broken.mkdir()
    (broken / "manifest.json").write_text("{")
    settings = Settings(model="lite", models_dir=tmp_path)
    with running(settings) as url, httpx.Client(base_url=url, timeout=20) as client:
        answer = client.post("/v1/audio/speech", json={"input": "hello"})
        assert answer.status_code == 503
        assert "cosykit install lite --repair" in answer.json()["error"]["message"]
        assert client.get("/ready").status_code == 503
        assert "--repair" in client.get("/health").json()["failure"]


def test_metrics_count_what_happened(client: httpx.Client) -> None:
    wait_until_ready(client)
    client.post("/v1/audio/speech", json={"input": "do re mi"})
    client.post("/v1/audio/speech", json={"input": ""})
    lines = client.get("/metrics").text.splitlines()
    figures = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    speech = 'cosykit_requests_total{route="/v1/audio/speech",status="%d"}'
    assert figures[speech % 200] == "1.0"
    assert figures[speech % 400] == "1.0"
    assert float(figures["cosykit_audio_seconds_total"]) == pytest.approx(0.48)
    assert figures["cosykit_first_byte_seconds_count"] == "1.0"
    assert figures["cosykit_request_seconds_count"] == "1.0"
    assert figures["cosykit_real_time_factor_count"] == "1.0"
    assert figures["cosykit_queue_depth"] == "0.0"
    assert figures["cosykit_batch_size"] == "0.0"
    assert figures['cosykit_errors_total{code="invalid_input"}'] == "1.0"
    assert float(figures["cosykit_resident_memory_bytes"]) > 1e6


def test_unknown_paths_do_not_make_new_series(client: httpx.Client) -> None:
    for number in range(5):
        assert client.get(f"/nope/{number}").status_code == 404
    assert "nope" not in client.get("/metrics").text


def test_document_describes_every_route_with_its_limits(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    routes = {
        (path, method)
        for path, methods in document["paths"].items()
        for method in methods
    }
    assert routes == {(op.path, op.method.lower()) for op in OPERATIONS}
    speed = document["components"]["schemas"]["SpeechBody"]["properties"]["speed"]
    assert (speed["minimum"], speed["maximum"]) == (0.25, 4.0)


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_need_nothing_from_elsewhere(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.headers["content-type"].startswith("text/html")
    assert "http://" not in answer.text.replace("http://www.w3.org", "")
    assert "https://" not in answer.text


def test_wrong_method_is_an_error_in_json(client: httpx.Client) -> None:
    answer = client.get("/v1/audio/speech")
    assert answer.status_code == 405
    assert answer.json()["error"]["type"] == "invalid_request_error"


def test_request_id_is_kept_when_it_is_harmless(client: httpx.Client) -> None:
    kept = client.get("/health", headers={"X-Request-ID": "trace-42.a"})
    assert kept.headers["x-request-id"] == "trace-42.a"
    made = client.get("/health", headers={"X-Request-ID": "no spaces please"})
    assert " " not in made.headers["x-request-id"]


def test_texts_are_not_logged(
    client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    client.post("/v1/audio/speech", json={"input": "secret words"})
    client.post("/v1/tts", json={"text": "secret words", "voice": "nobody"})
    client.post("/v1/tts", json={"text": 7, "secret": 1})
    assert "POST /v1/audio/speech 200" in caplog.text
    assert "secret words" not in caplog.text


def test_other_origins_are_let_in_only_by_configuration(example_plugin: Path) -> None:
    asked = {
        "Origin": "https://app.example",
        "Access-Control-Request-Method": "POST",
    }
    server = ServerSettings.model_validate({"cors_origins": ["https://app.example"]})
    open_door = Settings(model="tone", server=server)
    for settings, allowed in (
        (open_door, "https://app.example"),
        (Settings(model="tone"), None),
    ):
        with running(settings) as url:
            answer = httpx.options(f"{url}/v1/audio/speech", headers=asked)
        assert answer.headers.get("access-control-allow-origin") == allowed
