"""Who is let in how often: keys with names and limits, addresses, and proxies."""

import hmac
import logging
from collections.abc import Iterator, Mapping

import httpx
import openai
import pytest

from cosykit.config.schema import ServerSettings
from cosykit.errors import AccessError, RateLimitError
from cosykit.server import admission as admission_module
from cosykit.server.admission import Admission
from tests.server.conftest import Running, running, settings_for

ANNA = {"key": "secret-a", "name": "anna", "priority": 3, "requests_per_minute": 2}
SPEECH = "/v1/audio/speech"


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def admission(clock: Clock, **server: object) -> Admission:
    return Admission(ServerSettings.model_validate(server), clock)


def admitted(admission: Admission, tries: int, key: str | None, address: str) -> int:
    """Try to be let in again and again; give how often that was so."""
    count = 0
    for _ in range(tries):
        try:
            admission.admit(key, address)
        except RateLimitError:
            continue
        count += 1
    return count


def test_refusal_names_the_limit_that_holds(clock: Clock) -> None:
    door = admission(clock, api_keys=[ANNA, "b"], requests_per_minute_per_key=1)
    assert admitted(door, 3, "secret-a", "10.0.0.1") == 2
    assert admitted(door, 2, "b", "10.0.0.1") == 1
    with pytest.raises(RateLimitError, match="or raise its requests_per_minute"):
        door.admit("secret-a", "10.0.0.1")
    with pytest.raises(RateLimitError, match=r"raise server\.requests_per_minute_per_"):
        door.admit("b", "10.0.0.1")


def test_client_is_called_by_its_key_or_else_by_its_address(
    clock: Clock,
) -> None:
    with_keys = admission(clock, api_keys=[ANNA, "secret-b"])
    anna = with_keys.admit("secret-a", "10.0.0.1")
    assert (anna.name, anna.priority) == ("anna", 3)
    assert with_keys.admit("secret-b", "10.0.0.1").name == "key 2"
    assert admission(clock).admit("whatever", "10.0.0.2").name == "10.0.0.2"
    assert admission(clock).admit(None, "10.0.0.2").priority == 0


@pytest.mark.parametrize("shown", [None, "", "secret", "secret-a ", "schlüssel"])
def test_wrong_key_is_refused(clock: Clock, shown: str | None) -> None:
    with pytest.raises(AccessError):
        admission(clock, api_keys=[ANNA]).admit(shown, "10.0.0.1")


def test_keys_are_compared_in_constant_time_and_all_of_them(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[bytes] = []

    def compare(ours: bytes, shown: bytes) -> bool:
        compared.append(ours)
        return ours == shown

    monkeypatch.setattr(hmac, "compare_digest", compare)
    admission(clock, api_keys=["a", "b", "c"]).admit("a", "10.0.0.1")
    assert compared == [b"a", b"b", b"c"]


def test_key_has_a_minutes_requests_at_once_and_then_one_as_time_passes(
    clock: Clock,
) -> None:
    door = admission(clock, api_keys=["a", "b"], requests_per_minute_per_key=3)
    assert admitted(door, 5, "a", "10.0.0.1") == 3
    with pytest.raises(RateLimitError, match="this key may ask 3 times") as caught:
        door.admit("a", "10.0.0.2")
    assert caught.value.retry_after_s == pytest.approx(20)
    assert admitted(door, 5, "b", "10.0.0.1") == 3
    clock.now_s += 20
    assert admitted(door, 5, "a", "10.0.0.1") == 1
    clock.now_s += 3600
    assert admitted(door, 5, "a", "10.0.0.1") == 3


@pytest.mark.parametrize("limit", [7, 9, 11, 155])
def test_rounding_takes_no_request_from_a_minute(clock: Clock, limit: int) -> None:
    door = admission(clock, requests_per_minute_per_address=limit)
    assert admitted(door, limit + 2, None, "10.0.0.1") == limit


def test_limit_of_a_key_goes_before_that_of_all(clock: Clock) -> None:
    free = {"key": "secret-c", "requests_per_minute": 0}
    door = admission(clock, api_keys=[ANNA, free], requests_per_minute_per_key=5)
    assert admitted(door, 9, "secret-a", "10.0.0.1") == 2
    assert admitted(door, 9, "secret-c", "10.0.0.1") == 9


def test_address_is_limited_whatever_key_it_shows(clock: Clock) -> None:
    door = admission(clock, api_keys=["a", "b"], requests_per_minute_per_address=3)
    assert admitted(door, 2, "a", "10.0.0.1") == 2
    assert admitted(door, 2, "b", "10.0.0.1") == 1
    assert admitted(door, 2, "b", "10.0.0.2") == 2


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("", "", True),
    ],
)
def test_ipv6_network_counts_as_one_address(
    clock: Clock, first: str, second: str, is_same: bool
) -> None:
    door = admission(clock, requests_per_minute_per_address=1)
    door.admit(None, first)
    assert admitted(door, 1, None, second) == (0 if is_same else 1)


def test_guessing_of_keys_counts_as_asking(clock: Clock) -> None:
    door = admission(clock, api_keys=["a"], requests_per_minute_per_address=2)
    for _ in range(2):
        with pytest.raises(AccessError):
            door.recognise("b", "10.0.0.1")
    with pytest.raises(RateLimitError):
        door.recognise("b", "10.0.0.1")
    # Whoever has the key may look around all the same.
    assert door.recognise("a", "10.0.0.1")


def test_crowd_of_addresses_takes_no_more_memory_than_is_meant_for_it(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission_module, "_MOST_KNOWN", 100)
    door = admission(clock, requests_per_minute_per_address=1)
    for number in range(1000):
        door.admit(None, f"10.0.{number // 256}.{number % 256}")
    assert len(door._rates._empty_at) == 100
    assert admitted(door, 1, None, "10.0.3.231") == 0


def test_crowd_does_not_make_a_busy_address_forgotten(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission_module, "_MOST_KNOWN", 10)
    door = admission(clock, requests_per_minute_per_address=20)
    for number in range(20):
        door.admit(None, "10.0.0.1")
        door.admit(None, f"10.0.1.{number}")
    assert admitted(door, 1, None, "10.0.0.1") == 0


@pytest.fixture(scope="module")
def limited(plugins: None) -> Iterator[Running]:
    """A server whose key may speak twice a minute, behind a proxy on this machine."""
    server = {"api_keys": [ANNA, "secret-b"], "requests_per_minute_per_address": 3}
    with running(settings_for("tone", server=server)) as it:
        yield it


def post(
    server: Running, key: str, forwarded: str, path: str = SPEECH
) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key or '-'}", "X-Forwarded-For": forwarded}
    fields = {"input" if path == SPEECH else "text": "do"}
    return httpx.post(server.url + path, json=fields, headers=headers)


def test_limit_is_told_with_status_reason_and_time_to_wait(limited: Running) -> None:
    statuses = [post(limited, "secret-a", "10.1.0.1").status_code for _ in range(2)]
    assert statuses == [200, 200]
    answer = post(limited, "secret-a", "10.1.0.1")
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["retry-after"]) <= 30
    error = answer.json()["error"]
    assert (error["type"], error["code"]) == ("rate_limit_error", "rate_limit_exceeded")
    assert "may ask 2 times a minute" in error["message"]
    answer = post(limited, "secret-a", "10.1.0.1", "/v1/tts")
    assert answer.status_code == 429
    assert answer.json()["success"] is False
    assert "Retry-After" in answer.headers
    # Looking around is not counted.
    headers = {"Authorization": "Bearer secret-a"}
    for path in ("/v1/models", "/v1/audio/voices", "/metrics", "/health"):
        assert httpx.get(limited.url + path, headers=headers).status_code == 200


def test_client_of_openai_raises_its_own_exception(limited: Running) -> None:
    with (
        openai.OpenAI(
            api_key="secret-a", base_url=f"{limited.url}/v1", max_retries=0
        ) as speaker,
        pytest.raises(openai.RateLimitError),
    ):
        for _ in range(3):
            speaker.audio.speech.create(model="tts-1", voice="hum", input="do")


def test_trusted_proxy_is_believed_whom_it_speaks_for(limited: Running) -> None:
    for address in ("10.2.0.1", "10.2.0.2"):
        statuses = [post(limited, "secret-b", address).status_code for _ in range(4)]
        assert statuses == [200, 200, 200, 429]


def test_others_are_not_believed(plugins: None) -> None:
    server: Mapping[str, object] = {
        "requests_per_minute_per_address": 1,
        "trusted_proxies": [],
    }
    with running(settings_for("tone", server=server)) as it:
        assert post(it, "", "10.3.0.1").status_code == 200
        assert post(it, "", "10.3.0.2").status_code == 429


def test_keys_are_in_no_line_of_the_log(
    limited: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        for key in ("secret-a", "secret-b", "wrong-secret"):
            post(limited, key, "10.4.0.1")
    assert caplog.records
    assert "secret" not in caplog.text
