"""DashScope's own client speaks over HTTP, with events and without."""

import json
import wave
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import httpx
import pytest
from dashscope.audio.http_tts.http_speech_synthesizer import (
    HttpSpeechSynthesisResult,
    HttpSpeechSynthesizer,
)

from cosykit.audio.decode import decode_audio
from cosykit.audio.pcm import WAV_HEADER_BYTES
from tests.server.conftest import Running, running, settings_for
from tests.server.dashscope.conftest import LETTER_S

PATH = "/api/v1/services/audio/tts/SpeechSynthesizer"
TEXT = "do re mi fa sol la ti do. do ti la sol fa mi re do."
TEXT_S = 36 * LETTER_S


def asked(server: Running, text: str, voice: str) -> dict[str, Any]:
    return {
        "model": "cosyvoice-v3-flash",
        "text": text,
        "voice": voice,
        "url": f"{server.url}/api/v1",
    }


def spoken(
    server: Running, text: str = TEXT, voice: str = "hum"
) -> HttpSpeechSynthesisResult:
    result = HttpSpeechSynthesizer.call(**asked(server, text, voice))
    assert isinstance(result, HttpSpeechSynthesisResult)
    return result


def streamed(
    server: Running, text: str = TEXT, voice: str = "hum"
) -> Iterator[HttpSpeechSynthesisResult]:
    results = HttpSpeechSynthesizer.call(**asked(server, text, voice), stream=True)
    assert isinstance(results, Iterator)
    return results


def posted(
    client: httpx.Client, *, sse: bool = False, **fields: object
) -> httpx.Response:
    body = {"model": "cosyvoice-v2", "input": {"text": "do re.", **fields}}
    headers = {"X-DashScope-SSE": "enable"} if sse else {}
    return client.post(PATH, json=body, headers=headers)


def seconds_of(audio: bytes) -> float:
    samples, rate = decode_audio(audio)
    return samples.size / rate


def test_audio_can_be_fetched_from_the_address_that_is_answered(tone: Running) -> None:
    result = spoken(tone)
    assert result.audio_url
    fetched = httpx.get(result.audio_url)
    assert fetched.headers["content-type"] == "audio/wav"
    assert seconds_of(fetched.content) == pytest.approx(TEXT_S, abs=0.01)
    assert result.usage["characters"] == len(TEXT)
    assert result.output["finish_reason"] == "stop"
    assert str(result.audio_id).startswith("audio_")


def test_events_carry_the_sentences_and_the_same_audio(tone: Running) -> None:
    *parts, last = streamed(tone)
    audio = b"".join(part.audio_data or b"" for part in parts)
    assert len(parts) > 2
    assert last.audio_data == audio
    # Only the file knows how long it is.
    fetched = httpx.get(last.audio_url or "").content
    assert fetched[WAV_HEADER_BYTES:] == audio[WAV_HEADER_BYTES:]
    assert seconds_of(audio) == pytest.approx(TEXT_S, abs=0.01)
    assert {sentence["index"] for sentence in last.sentences} == {0, 1}


def test_events_are_written_as_dashscope_does(client: httpx.Client) -> None:
    answer = posted(client, sse=True, voice="hum")
    assert answer.headers["content-type"].startswith("text/event-stream")
    first, *_, last = answer.text.strip().split("\n\n")
    number, kind, status, data = first.split("\n")
    assert (number, kind, status) == ("id:1", "event:result", ":HTTP_STATUS/200")
    told = json.loads(data.removeprefix("data:"))
    assert told["request_id"] == answer.headers["x-request-id"]
    assert told["output"]["type"] == "sentence-begin"
    assert told["output"]["original_text"] == "do re."
    assert told["output"]["finish_reason"] == "null"
    ended = json.loads(last.split("\n")[-1].removeprefix("data:"))
    assert ended["output"]["finish_reason"] == "stop"
    assert ended["usage"] == {"characters": 6}


def test_mp3_at_22050_is_the_usual_format(client: httpx.Client) -> None:
    answer = posted(client, voice="hum")
    audio = client.get(answer.json()["output"]["audio"]["url"]).content
    _, rate = decode_audio(audio)
    assert rate == 22_050


def test_parameters_may_stand_apart(client: httpx.Client) -> None:
    body = {
        "model": "cosyvoice-v2",
        "input": {"text": "do.", "voice": "hum", "sample_rate": 8_000},
        "parameters": {"format": "wav", "sample_rate": 16_000},
    }
    answer = client.post(PATH, json=body)
    audio = client.get(answer.json()["output"]["audio"]["url"]).content
    with wave.open(BytesIO(audio)) as file:
        assert file.getframerate() == 16_000
        assert file.getnframes() == (len(audio) - WAV_HEADER_BYTES) // 2


@pytest.mark.parametrize("sse", [False, True])
@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"volume": 101}, "volume"),
        ({"colour": "red"}, "colour"),
        ({"text": ""}, "text"),
        ({"text": "?!"}, "valid"),
        ({"text": "庆" * 10_001}, "20002"),
        ({"text": "<speak>do</speak>", "enable_ssml": True}, "SSML"),
        ({"voice": "nobody"}, "nobody"),
    ],
)
def test_wrong_field_is_a_status_and_a_reason(
    client: httpx.Client, sse: bool, fields: dict[str, object], word: str
) -> None:
    answer = posted(client, sse=sse, **fields)
    failure = answer.json()
    assert answer.status_code in (400, 404, 413)
    assert failure["code"] == "InvalidParameter"
    assert word in failure["message"]
    assert failure["request_id"] == answer.headers["x-request-id"]


def test_unknown_model_is_named(client: httpx.Client) -> None:
    body = {"model": "gpt-4", "input": {"text": "do."}}
    answer = client.post(PATH, json=body)
    assert answer.status_code == 404
    assert answer.json()["code"] == "ModelNotFound"


def test_audio_that_cannot_be_kept_is_refused_but_can_be_streamed(
    tone: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tone.service.shelf, "most_bytes", 1000)
    refused = spoken(tone)
    assert refused.code == "InvalidParameter"
    assert "X-DashScope-SSE" in refused.message
    *parts, last = streamed(tone)
    assert seconds_of(b"".join(part.audio_data or b"" for part in parts)) > TEXT_S - 0.1
    assert last.audio_url == ""


def test_key_is_asked_for(guarded: Running) -> None:
    with guarded.connected() as client:
        answer = posted(client)
        assert answer.status_code == 401
        assert answer.json()["code"] == "InvalidApiKey"
    assert spoken(guarded, "do.").audio_url


def test_speech_that_fails_midway_ends_in_an_error(plugins: None) -> None:
    bug = "one two three bug"
    with running(settings_for("counting")) as server:
        parts = streamed(server, bug, "only")
        with pytest.raises(RuntimeError, match="failed unexpectedly"):
            list(parts)
        failed = spoken(server, bug, "only")
    assert failed.code == "InternalError"
    assert failed.audio_url is None


def test_audio_that_is_not_there_is_not_found(client: httpx.Client) -> None:
    answer = client.get("/api/v1/services/audio/tts/results/nothing")
    assert answer.status_code == 404
    assert answer.json()["message"]
