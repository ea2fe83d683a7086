"""What was spoken once is answered at once, by every route, and nothing else is."""

import threading
from collections.abc import Iterator, Mapping

import httpx
import pytest

from cosykit.audio.formats import AUDIO_FORMATS
from tests.patience import PATIENCE_S, until
from tests.server.cache.redis_server import redis_server
from tests.server.conftest import Running, running, settings_for
from tests.server.wire import request, wired

SPEECH, TTS = "/v1/audio/speech", "/v1/tts"
MEMORY = {"store": "memory"}


@pytest.fixture
def server(plugins: None) -> Iterator[Running]:
    """A server whose engine can be held, speaking one request at a time."""
    engine = {"batch_size": 1, "queue_size": 1}
    with running(settings_for("repeatable", engine=engine, cache=MEMORY)) as it:
        yield it


@pytest.fixture
def client(server: Running) -> Iterator[httpx.Client]:
    with server.connected() as connected:
        yield connected


def spoken(
    client: httpx.Client,
    text: str,
    *,
    cache_control: str = "",
    **fields: str | int,
) -> tuple[str, bytes]:
    """Speak a text; tell whether it was in the cache."""
    body = {"input": text, "response_format": "pcm", **fields}
    headers = {"Cache-Control": cache_control} if cache_control else {}
    answer = client.post(SPEECH, json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.headers.get("x-cosykit-cache", ""), answer.content


def figures(client: httpx.Client) -> Mapping[str, float]:
    lines = client.get("/metrics").text.splitlines()
    found = (line.split(" ") for line in lines if line.startswith("cosykit_cache"))
    return {name: float(value) for name, value in found}


def test_repeated_request_is_answered_without_the_engine(
    server: Running, client: httpx.Client
) -> None:
    first, second = (client.post(SPEECH, json={"input": "one two"}) for _ in range(2))
    assert server.engine.spoken == ["one", "two"]
    assert first.content == second.content
    assert first.headers.pop("x-cosykit-cache") == "miss"
    assert second.headers.pop("x-cosykit-cache") == "hit"
    for answer in (first, second):
        del answer.headers["x-request-id"], answer.headers["date"]
    assert first.headers == second.headers


@pytest.mark.parametrize("audio_format", AUDIO_FORMATS)
def test_each_format_is_kept_by_itself(client: httpx.Client, audio_format: str) -> None:
    spoken(client, "one two", response_format="mp3", sample_rate=8000)
    first, second = (
        spoken(client, "one two", response_format=audio_format) for _ in range(2)
    )
    assert (first[0], second[0]) == ("miss", "hit")
    assert first[1] == second[1]


def test_what_amounts_to_the_same_is_the_same(client: httpx.Client) -> None:
    assert spoken(client, "One  two")[0] == "miss"
    assert spoken(client, "one two", sample_rate=24_000)[0] == "hit"
    assert spoken(client, "one two", sample_rate=16_000)[0] == "miss"
    assert spoken(client, "one two", speed=2)[0] == "miss"


def test_events_and_json_are_made_of_it_too(client: httpx.Client) -> None:
    for path, fields in (
        (SPEECH, {"input": "one two", "stream_format": "sse"}),
        (TTS, {"text": "one two"}),
    ):
        first, second = (client.post(path, json=fields) for _ in range(2))
        assert second.headers["x-cosykit-cache"] == "hit"
        assert second.status_code == 200
        if path == TTS:
            assert first.json() == second.json()
        else:
            last = [answer.text.split("\n\n")[-2] for answer in (first, second)]
            assert last[0] == last[1]
            assert '"output_tokens": 2' in last[0]


def test_it_is_answered_while_the_engine_and_its_queue_are_full(
    server: Running, client: httpx.Client
) -> None:
    _, known = spoken(client, "known")
    with wired(server.port) as speaking, wired(server.port) as waiting:
        speaking.send(request(b'{"input": "wait"}'))
        assert server.engine.held.wait(PATIENCE_S)
        waiting.send(request(b'{"input": "later"}'))
        until(lambda: client.get("/health").json()["queue"]["waiting"] == 1)
        assert client.post(SPEECH, json={"input": "unknown"}).status_code == 503
        assert spoken(client, "known") == ("hit", known)
        server.engine.gate.set()


def test_speech_that_fails_half_way_is_not_kept(
    server: Running, client: httpx.Client
) -> None:
    for _ in range(2):
        with pytest.raises(httpx.RemoteProtocolError):
            spoken(client, "one fail")
    assert server.engine.spoken == ["one", "one"]
    assert figures(client)["cosykit_cache_bytes"] == 0


def test_speech_whose_listener_leaves_is_not_kept(
    server: Running, client: httpx.Client
) -> None:
    with wired(server.port) as wire:
        wire.send(request(b'{"input": "one wait", "response_format": "pcm"}'))
        wire.read_until(b"\r\n\r\n")
        wire.break_off()
    assert server.engine.cancelled.get(timeout=PATIENCE_S)
    server.engine.gate.set()
    assert spoken(client, "one wait")[0] == "miss"
    assert server.engine.spoken[-2:] == ["one", "wait"]


def test_listener_that_takes_nothing_keeps_nobody_waiting(plugins: None) -> None:
    settings = settings_for("repeatable", cache=MEMORY)
    text = "word " * 800
    with running(settings, send_buffer=4096) as server, wired(server.port) as wire:
        wire.send(request(f'{{"input": "{text}", "response_format": "pcm"}}'.encode()))
        wire.read_until(b"\r\n\r\n")
        with server.connected() as client:
            # Three times as much audio as is made ahead.
            assert len(spoken(client, text)[1]) == 800 * 4800


def test_client_may_ask_for_another_take(server: Running, client: httpx.Client) -> None:
    assert spoken(client, "one", cache_control="no-store")[0] == "miss"
    assert spoken(client, "one")[0] == "miss"
    assert spoken(client, "one", cache_control="no-cache")[0] == "miss"
    assert server.engine.spoken == ["one"] * 3
    assert spoken(client, "one", cache_control="no-store")[0] == "hit"
    # The next request of the same connection says nothing of it.
    assert spoken(client, "one")[0] == "hit"


def test_what_is_too_large_is_spoken_and_not_kept(plugins: None) -> None:
    settings = settings_for("repeatable", cache={**MEMORY, "size_mb": 1})
    with running(settings) as server, server.connected() as client:
        for _ in range(2):
            status, audio = spoken(client, "word " * 100)
            assert (status, len(audio)) == ("miss", 100 * 4800)
            assert figures(client)["cosykit_cache_bytes"] == 0


def test_memory_stays_within_its_limit(plugins: None) -> None:
    settings = settings_for("repeatable", cache={**MEMORY, "size_mb": 1})
    with running(settings) as server, server.connected() as client:
        for number in range(30):
            spoken(client, f"{number} " * 20)
            assert figures(client)["cosykit_cache_bytes"] < 1 << 20
        assert figures(client)["cosykit_cache_bytes"] > 1 << 19
        assert spoken(client, "29 " * 20)[0] == "hit"
        assert spoken(client, "0 " * 20)[0] == "miss"


def test_metrics_count_hits_and_misses(client: httpx.Client) -> None:
    for text in ("one", "two", "one", "one"):
        spoken(client, text)
    found = figures(client)
    assert found["cosykit_cache_hits_total"] == 2
    assert found["cosykit_cache_misses_total"] == 2
    assert 2 * 4800 < found["cosykit_cache_bytes"] < 20_000
    page = client.get("/metrics").text
    assert "cosykit_audio_seconds_total 0.4" in page
    # What was found took no time to speak.
    assert "cosykit_real_time_factor_count 2.0" in page


@pytest.mark.parametrize(
    ("model", "cache"), [("repeatable", {"store": "off"}), ("counting", MEMORY)]
)
def test_without_a_cache_or_an_identity_everything_is_spoken(
    plugins: None, model: str, cache: Mapping[str, object]
) -> None:
    settings = settings_for(model, cache=cache)
    with running(settings) as server, server.connected() as client:
        assert [spoken(client, "one")[0] for _ in range(2)] == ["", ""]
        assert server.engine.spoken == ["one", "one"]


def test_servers_share_a_redis(plugins: None) -> None:
    with redis_server() as redis:
        cache = {"store": "redis", "redis_url": redis.url}
        settings = settings_for("repeatable", cache=cache)
        with running(settings) as one, running(settings) as other:
            with one.connected() as client:
                _, audio = spoken(client, "one two")
                assert figures(client)["cosykit_cache_bytes"] == 0
            with other.connected() as client:
                assert spoken(client, "one two") == ("hit", audio)
            assert other.engine.spoken == []


def test_silent_redis_is_only_a_line_in_the_log(
    plugins: None, caplog: pytest.LogCaptureFixture
) -> None:
    with redis_server() as redis:
        cache = {"store": "redis", "redis_url": redis.url, "redis_timeout_ms": 50}
        settings = settings_for("repeatable", cache=cache)
        with running(settings) as server, server.connected() as client:
            audio = spoken(client, "one two")
            redis.stop_answering()
            for _ in range(3):
                assert spoken(client, "one two") == audio
            assert figures(client)["cosykit_cache_failures_total"] == 1
            redis.kill()
            assert spoken(client, "one two") == audio
    assert caplog.text.count("the cache goes on without Redis") == 1


def test_same_request_of_many_at_once_is_answered_to_all(
    server: Running, client: httpx.Client
) -> None:
    answers: list[tuple[str, bytes]] = []

    def ask() -> None:
        with server.connected() as own:
            answers.append(spoken(own, "one two"))

    _, audio = spoken(client, "one two")
    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [("hit", audio)] * 20
