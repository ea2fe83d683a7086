"""What operators ask a server."""

import json
import re

import httpx
import pytest

from cosykit.errors import CosykitError
from cosykit.server.app import OPERATIONS
from cosykit.server.loading import WARM_UP_TEXTS
from tests.patience import until
from tests.server.conftest import Running, running, settings_for


def figures_of(client: httpx.Client) -> dict[str, str]:
    lines = client.get("/metrics").text.splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


def test_health_tells_how_the_engine_runs(client: httpx.Client) -> None:
    answer = client.get("/health").json()
    assert answer["status"] == "alive"
    assert answer["state"] == "ready"
    assert (answer["model"], answer["provider"], answer["precision"]) == (
        "tone",
        "cpu",
        "fp32",
    )
    assert answer["queue"] == {"waiting": 0, "active": 0, "limit": 64}


def test_server_is_ready_when_it_has_warmed_up(plugins: None) -> None:
    settings = settings_for("counting", engine={"warm_up": True})
    with running(settings) as server, server.connected() as client:
        # The counting engine speaks English only, so there is one text to warm up with.
        text = WARM_UP_TEXTS["en"]
        until(lambda: client.get("/ready").status_code != 503)
        assert client.get("/ready").json() == {"ready": True, "state": "ready"}
        assert server.engine.spoken == text.split()
        assert figures_of(client)["cosykit_request_seconds_count"] == "0.0"


def test_model_that_cannot_warm_up_is_not_ready(
    plugins: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WARM_UP_TEXTS, "en", "bug")
    settings = settings_for("counting", engine={"warm_up": True})
    with running(settings) as server, server.connected() as client:
        until(lambda: client.get("/ready").json()["state"] != "warming")
        answer = client.get("/ready")
        assert answer.status_code == 503
        assert answer.json()["state"] == "failed"
        assert isinstance(server.service.failure, CosykitError)


def test_metrics_count_what_happened(counting: Running) -> None:
    with counting.connected() as client:
        client.post("/v1/audio/speech", json={"input": "do re mi"})
        client.post("/v1/audio/speech", json={"input": ""})
        figures = figures_of(client)
    speech = 'cosykit_requests_total{route="/v1/audio/speech",status="%d"}'
    assert figures[speech % 200] == "1.0"
    assert figures[speech % 400] == "1.0"
    assert float(figures["cosykit_audio_seconds_total"]) == pytest.approx(0.3)
    assert figures["cosykit_first_byte_seconds_count"] == "1.0"
    assert figures["cosykit_request_seconds_count"] == "1.0"
    assert figures["cosykit_real_time_factor_count"] == "1.0"
    assert figures["cosykit_queue_depth"] == "0.0"
    assert figures["cosykit_batch_size"] == "0.0"
    assert figures['cosykit_errors_total{code="invalid_input"}'] == "1.0"
    assert float(figures["cosykit_resident_memory_bytes"]) > 1e6


def test_strange_paths_and_methods_make_no_new_series(client: httpx.Client) -> None:
    def series_after(number: int) -> set[str]:
        assert client.get(f"/nope/{number}").status_code == 404
        assert client.get(f"/v1/models/nope{number}").status_code == 404
        assert client.request(f"BREW{number}", "/health").status_code == 405
        client.get("/metrics")
        return set(figures_of(client))

    series = series_after(1)
    assert 'cosykit_requests_total{route="unknown",status="404"}' in series
    assert 'cosykit_requests_total{route="/v1/models/{model}",status="404"}' in series
    assert 'cosykit_requests_total{route="/health",status="405"}' in series
    assert series_after(2) == series


def test_document_describes_every_route_with_its_limits(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    routes = {
        (path, method)
        for path, methods in document["paths"].items()
        for method in methods
    }
    assert routes == {(op.path, op.method.lower()) for op in OPERATIONS}
    fields = document["components"]["schemas"]["SpeechBody"]["properties"]
    assert (fields["speed"]["minimum"], fields["speed"]["maximum"]) == (0.25, 4.0)
    assert fields["sample_rate"]["enum"][:2] == [0, 8000]
    assert fields["input"]["minLength"] == 1


def test_document_describes_failures_in_the_shape_of_each_protocol(
    client: httpx.Client,
) -> None:
    document = client.get("/openapi.json").json()
    for path, shape in (("/v1/audio/speech", "ErrorAnswer"), ("/v1/tts", "TtsAnswer")):
        responses = document["paths"][path]["post"]["responses"]
        statuses = {"400", "401", "404", "413", "415", "429", "503", "504", "default"}
        assert set(responses) == statuses | {"200"}
        for status in statuses:
            schema = responses[status]["content"]["application/json"]["schema"]
            assert schema == {"$ref": f"#/components/schemas/{shape}"}
        for status in ("429", "503", "504"):
            assert "Retry-After" in responses[status]["headers"]
    assert "503" in document["paths"]["/ready"]["get"]["responses"]
    named = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(document)))
    assert named == set(document["components"]["schemas"])


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_need_nothing_from_elsewhere(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.headers["content-type"].startswith("text/html")
    assert "http://" not in answer.text.replace("http://www.w3.org", "")
    assert "https://" not in answer.text


def test_page_hides_what_it_calls_hidden(client: httpx.Client) -> None:
    # The key field is a label, whose own display would win over the attribute.
    assert "[hidden] { display: none !important; }" in client.get("/").text
