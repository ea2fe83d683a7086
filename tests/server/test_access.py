"""Who is let in: API keys, and pages of other origins."""

from collections.abc import Iterator

import httpx
import pytest

from tests.server.conftest import Running, running, settings_for

ORIGIN = "https://app.example"
GUARDED = [
    ("POST", "/v1/audio/speech"),
    ("POST", "/v1/tts"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/tone"),
    ("GET", "/v1/audio/models"),
    ("POST", "/v1/audio/convert"),
    ("POST", "/api/v1/services/audio/tts/SpeechSynthesizer"),
    ("GET", "/v1/audio/voices"),
    ("POST", "/v1/audio/voices"),
    ("DELETE", "/v1/audio/voices/anna"),
    ("GET", "/metrics"),
]


@pytest.fixture(scope="module")
def shared(plugins: None) -> Iterator[httpx.Client]:
    """A server with a key that pages of one origin may call."""
    server = {"api_keys": ["first"], "cors_origins": [ORIGIN]}
    with (
        running(settings_for("tone", server=server)) as it,
        it.connected() as connected,
    ):
        connected.headers["Origin"] = ORIGIN
        yield connected


@pytest.mark.parametrize(
    "shown", ["", "Bearer", "Bearer third", "first", "Basic first"]
)
def test_key_is_asked_for(guarded: Running, shown: str) -> None:
    with guarded.connected() as client:
        for method, path in GUARDED:
            headers = {"Authorization": shown} if shown else {}
            answer = client.request(method, path, headers=headers)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            assert "API key is missing or wrong" in answer.text


def test_key_may_not_be_ascii(guarded: Running) -> None:
    answer = httpx.get(
        f"{guarded.url}/metrics", headers={b"Authorization": "Bearer é".encode()}
    )
    assert answer.status_code == 401


def test_each_key_opens_every_route(guarded: Running) -> None:
    with guarded.connected() as client:
        for key in ("first", "second"):
            client.headers["Authorization"] = f"bearer {key}"
            for method, path in GUARDED:
                assert client.request(method, path).status_code in (200, 400, 415)


@pytest.mark.parametrize("path", ["/", "/docs", "/openapi.json", "/health", "/ready"])
def test_pages_and_probes_need_no_key(guarded: Running, path: str) -> None:
    assert httpx.get(guarded.url + path).status_code == 200


def test_preflight_needs_no_key_and_allows_what_clients_send(
    shared: httpx.Client,
) -> None:
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,x-stainless-os",
    }
    answer = shared.options("/v1/audio/speech", headers=asked)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "x-stainless-os" in answer.headers["access-control-allow-headers"]
    assert "POST" in answer.headers["access-control-allow-methods"]


@pytest.mark.parametrize(
    ("method", "path", "key", "status"),
    [
        ("POST", "/v1/audio/speech", None, 401),
        ("POST", "/v1/audio/speech", "first", 415),
        ("GET", "/v1/models", "first", 200),
        ("GET", "/v1/models/nope", "first", 404),
        ("GET", "/nope", "first", 404),
        ("PUT", "/v1/tts", "first", 405),
    ],
)
def test_pages_of_the_origin_can_read_every_answer(
    shared: httpx.Client, method: str, path: str, key: str | None, status: int
) -> None:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    answer = shared.request(method, path, headers=headers)
    assert answer.status_code == status
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "Retry-After" in answer.headers["access-control-expose-headers"]
    assert "Origin" in answer.headers["vary"]


def test_report_of_a_bug_can_be_read_too(
    shared: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cosykit.server.app.files", None)
    answer = shared.get("/docs")
    assert answer.status_code == 500
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert answer.headers["x-request-id"]


def test_other_origins_are_not_let_in(shared: httpx.Client, tone: Running) -> None:
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    answer = shared.options("/v1/audio/speech", headers=asked)
    assert answer.status_code == 400
    assert "access-control-allow-origin" not in answer.headers
    answer = httpx.options(f"{tone.url}/v1/audio/speech", headers=asked)
    assert "access-control-allow-origin" not in answer.headers
