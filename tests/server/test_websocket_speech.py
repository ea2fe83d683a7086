"""Our own WebSocket: text in pieces in, audio out while it still comes."""

import asyncio
import json
import logging
import subprocess
import sys
import wave
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path

import httpx
import pytest

from cosykit.audio.decode import decode_audio
from tests.conftest import ROOT
from tests.patience import PATIENCE_S, until_soon
from tests.server.conftest import Running, running, settings_for
from tests.server.speaker import connected

CHUNK_BYTES = 2 * 2400


async def test_text_in_pieces_becomes_one_stream_of_audio(tone: Running) -> None:
    async with connected(tone) as speaker:
        await speaker.say("start", response_format="wav")
        started = await speaker.hear_until("started")
        assert started == {
            "type": "started",
            "media_type": "audio/wav",
            "sample_rate": 24_000,
            "model": "tone",
        }
        for piece in ("The first sen", "tence is here. And the sec", "ond one is too"):
            await speaker.say("text", text=piece)
        await speaker.say("finish")
        finished = await speaker.hear_until("finished")
        assert speaker.texts() == [
            "The first sentence is here.",
            " And the second one is too",
        ]
        assert speaker.kinds() == [
            "started",
            *("sentence_begin", "sentence_end") * 2,
            "finished",
        ]
        ended = [each for each in speaker.told if each["type"] == "sentence_end"]
        letters = len("Thefirstsentenceishere.Andthesecondoneistoo")
        assert finished["duration_s"] == pytest.approx(0.08 * letters, abs=0.01)
        assert sum(float(str(each["duration_s"])) for each in ended) == pytest.approx(
            finished["duration_s"], abs=0.01
        )
        with wave.open(BytesIO(bytes(speaker.audio))) as sound:
            # A stream does not know its length when its header is sent.
            samples = len(sound.readframes(1 << 30)) // 2
        assert samples / 24_000 == pytest.approx(0.08 * letters, abs=0.01)


async def test_audio_comes_while_the_text_is_still_written(tone: Running) -> None:
    async with connected(tone) as speaker:
        await speaker.say("start", response_format="pcm")
        await speaker.say("text", text="The first sentence is here. Now")
        await speaker.hear_until("sentence_end")
        assert speaker.audio
        await speaker.say("text", text=" comes the second")
        await speaker.say("flush")
        await speaker.hear_until("sentence_end")
        assert speaker.texts()[1] == " Now comes the second"


async def test_connection_serves_one_speech_after_another(tone: Running) -> None:
    async with connected(tone) as speaker:
        for text in ("Do", "Re mi"):
            await speaker.say("start", response_format="mp3")
            await speaker.say("text", text=text)
            await speaker.say("finish")
            await speaker.hear_until("finished")
        assert speaker.texts() == ["Do", "Re mi"]


async def test_interruption_is_heard_at_once(counting: Running) -> None:
    async with connected(counting) as speaker:
        await speaker.say("start", response_format="pcm")
        text = "One two three waits here for ever. Nobody hears this sentence. "
        await speaker.say("text", text=text)
        await speaker.hear_until("sentence_begin")
        assert await asyncio.to_thread(counting.engine.held.wait, PATIENCE_S)
        await speaker.say("interrupt")
        await speaker.hear_until("interrupted")
        assert len(speaker.audio) <= 3 * CHUNK_BYTES
        speaker.audio.clear()
        counting.engine.gate.set()
        await speaker.say("text", text="This one is heard.")
        await speaker.say("finish")
        finished = await speaker.hear_until("finished")
        assert len(speaker.audio) == 4 * CHUNK_BYTES
        assert isinstance(finished["duration_s"], float)
        assert 0.4 <= finished["duration_s"] <= 0.7
        assert speaker.texts()[1:] == ["This one is heard."]
        assert counting.engine.cancelled.get(timeout=PATIENCE_S)


async def test_client_that_leaves_ends_its_speech(counting: Running) -> None:
    async with connected(counting) as speaker:
        await speaker.say("start")
        await speaker.say("text", text="wait")
        await speaker.say("flush")
        await speaker.hear_until("started")
        assert await asyncio.to_thread(counting.engine.held.wait, PATIENCE_S)
        speaker.socket.transport.abort()
        assert await asyncio.to_thread(counting.engine.cancelled.get, True, PATIENCE_S)


START = {"type": "start"}


@pytest.mark.parametrize(
    ("messages", "code", "close_code"),
    [
        (["{"], "invalid_input", 1007),
        (["[]"], "invalid_input", 1007),
        ([{}], "invalid_input", 1007),
        ([{"type": "sing"}], "invalid_input", 1007),
        ([START | {"colour": "red"}], "invalid_input", 1007),
        ([START | {"speed": 40}], "invalid_input", 1007),
        ([START | {"prompt_text": "hello"}], "invalid_input", 1007),
        ([START | {"instructions": "sadly"}], "invalid_input", 1007),
        ([START | {"voice": "nobody"}], "not_found", 1007),
        ([START | {"model": "nothing"}], "not_found", 1007),
        ([START, START], "invalid_input", 1007),
        ([{"type": "text", "text": "x"}], "invalid_input", 1007),
        ([START, {"type": "text", "text": 3}], "invalid_input", 1007),
        ([START, {"type": "finish"}, {"type": "text", "text": "x"}], "", 1007),
        ([START, b"binary"], "unsupported_media_type", 1003),
        ([START, {"type": "text", "text": "x" * 300_000}], "invalid_input", 1007),
    ],
)
async def test_wrong_message_is_an_error_and_closes(
    tone: Running,
    messages: list[str | bytes | Mapping[str, object]],
    code: str,
    close_code: int,
) -> None:
    async with connected(tone) as speaker:
        for message in messages:
            if isinstance(message, Mapping):
                message = json.dumps(message)
            await speaker.send(message)
        assert await speaker.hear_close() == close_code
        error = speaker.told[-1]
        assert error["type"] == "error"
        assert error["message"]
        assert error["hint"]
        assert code in (error["code"], "")


async def test_too_large_message_closes(tone: Running) -> None:
    async with connected(tone) as speaker:
        await speaker.say("text", text="x" * (4 << 20))
        assert await speaker.hear_close() == 1009


async def test_failure_of_the_engine_is_told(counting: Running) -> None:
    for word, code in (("bug", "internal_error"), ("fail", "resource_unavailable")):
        async with connected(counting) as speaker:
            await speaker.say("start")
            await speaker.say("text", text=word)
            await speaker.say("finish")
            assert await speaker.hear_close() == 1011
            assert speaker.told[-1]["code"] == code


@pytest.mark.parametrize(
    ("headers", "subprotocols"),
    [
        ({"Authorization": "Bearer second"}, None),
        # "first", in a base64 that browsers take: without its padding.
        (None, ["cosykit", "cosykit.key.Zmlyc3Q"]),
    ],
)
async def test_key_lets_in(
    guarded: Running,
    headers: Mapping[str, str] | None,
    subprotocols: list[str] | None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    async with connected(
        guarded, headers=headers, subprotocols=subprotocols
    ) as speaker:
        await speaker.say("start")
        await speaker.hear_until("started")
        assert speaker.socket.subprotocol == (subprotocols and "cosykit")
    server_lines = [r for r in caplog.records if not r.name.startswith("websockets")]
    logged = " ".join(record.getMessage() for record in server_lines)
    assert "second" not in logged
    assert "Zmlyc3Q" not in logged


@pytest.mark.parametrize(
    ("headers", "subprotocols"),
    [
        (None, None),
        ({"Authorization": "Bearer third"}, None),
        ({"Authorization": "Basic second"}, None),
        (None, ["cosykit", "cosykit.key.second"]),
        (None, ["cosykit.key.!"]),
    ],
)
async def test_wrong_key_is_refused_in_words(
    guarded: Running, headers: Mapping[str, str] | None, subprotocols: list[str] | None
) -> None:
    async with connected(
        guarded, headers=headers, subprotocols=subprotocols
    ) as speaker:
        assert await speaker.hear_close() == 1008
        assert speaker.told[-1]["code"] == "invalid_api_key"


@pytest.fixture(scope="module")
def sited(plugins: None) -> Iterator[Running]:
    """A server that lets the pages of one other site in."""
    server = {"cors_origins": ["https://friend.example"]}
    with running(settings_for("tone", server=server)) as it:
        yield it


@pytest.mark.parametrize(
    ("origin", "is_let_in"),
    [
        ("https://friend.example", True),
        ("http://127.0.0.1:{port}", True),
        ("https://127.0.0.1:{port}", True),
        ("https://foe.example", False),
        ("http://127.0.0.1", False),
        ("http://127.0.0.1:x", False),
        ("null", False),
    ],
)
async def test_pages_of_other_sites_are_kept_out(
    sited: Running, origin: str, is_let_in: bool
) -> None:
    headers = {"Origin": origin.format(port=sited.port)}
    async with connected(sited, headers=headers) as speaker:
        if is_let_in:
            await speaker.say("start")
            await speaker.hear_until("started")
        else:
            assert await speaker.hear_close() == 1008
            assert speaker.told[-1]["code"] == "origin_not_allowed"


async def test_silent_connection_is_closed(plugins: None) -> None:
    settings = settings_for(
        "counting", server={"silence_s": 0.2}, engine={"timeout_s": 0.5}
    )
    with running(settings) as server:
        for messages in ((), ("start",), ("start", "finish")):
            async with connected(server) as speaker:
                for message in messages:
                    await speaker.say(message)
                assert await speaker.hear_close() == 1008
                assert speaker.told[-1]["code"] == "silence"


async def test_rate_limit_counts_speeches(plugins: None) -> None:
    server = {"requests_per_minute_per_address": 2}
    with running(settings_for("tone", server=server)) as limited:
        async with connected(limited) as speaker:
            for _ in range(2):
                await speaker.say("start")
                await speaker.say("finish")
                await speaker.hear_until("finished")
            await speaker.say("start")
            assert await speaker.hear_close() == 1013
            assert speaker.told[-1]["code"] == "rate_limit_exceeded"


async def test_metrics_count_connections(tone: Running) -> None:
    async with connected(tone) as speaker:
        await speaker.say("start")
        await speaker.hear_until("started")
    line = 'cosykit_requests_total{route="/v1/audio/speech/ws",status="101"}'
    with tone.connected() as client:
        await until_soon(lambda: line in client.get("/metrics").text)


def test_example_speaks_what_is_written(tone: Running, tmp_path: Path) -> None:
    target = tmp_path / "live.mp3"
    url = f"ws://127.0.0.1:{tone.port}"
    command = [sys.executable, str(ROOT / "examples/speak_live.py"), url, str(target)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert ran.stdout.startswith("spoke for "), ran.stderr
    assert decode_audio(target.read_bytes())[0].size


def test_messages_are_documented(tone: Running) -> None:
    document = httpx.get(f"{tone.url}/openapi.json").json()
    said = document["x-websockets"]["/v1/audio/speech/ws"]
    names = [each["$ref"].rpartition("/")[2] for each in said["client"]]
    schemas = document["components"]["schemas"]
    kinds = [schemas[name]["properties"]["type"]["const"] for name in names]
    assert kinds == ["start", "text", "flush", "interrupt", "finish"]
    assert len(said["server"]) == 6
