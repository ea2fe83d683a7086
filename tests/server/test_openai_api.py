"""OpenAI's own client talks to the server as it does to OpenAI."""

import json
from collections.abc import Iterator

import httpx
import openai
import pytest

from cosykit.audio.decode import decode_audio
from cosykit.audio.formats import AUDIO_FORMATS, AudioFormat

# The example engine hums 0.08 s a letter.
TEXT = "do re mi fa sol la ti do"
TEXT_S = 17 * 0.08
PADDING_S = 0.09


@pytest.fixture
def speaker(address: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        api_key="unused", base_url=f"{address}/v1", max_retries=0
    ) as client:
        yield client


def seconds_of(audio: bytes, audio_format: AudioFormat) -> float:
    if audio_format == "pcm":
        return len(audio) / 2 / 24_000
    samples, rate = decode_audio(audio)
    return samples.size / rate


@pytest.mark.parametrize("audio_format", AUDIO_FORMATS)
def test_every_format_has_the_right_duration(
    speaker: openai.OpenAI, audio_format: AudioFormat
) -> None:
    answer = speaker.audio.speech.create(
        model="tts-1", voice="hum", input=TEXT, response_format=audio_format
    )
    assert seconds_of(answer.content, audio_format) == pytest.approx(
        TEXT_S, abs=PADDING_S
    )


def test_default_format_is_mp3(speaker: openai.OpenAI) -> None:
    answer = speaker.audio.speech.create(model="tts-1", voice="hum", input=TEXT)
    assert answer.response.headers["content-type"] == "audio/mpeg"


def test_sample_rate_can_be_asked_for(client: httpx.Client) -> None:
    fields = {"input": TEXT, "response_format": "wav", "sample_rate": 16_000}
    answer = client.post("/v1/audio/speech", json=fields)
    _, rate = decode_audio(answer.content)
    assert rate == 16_000


def test_speed_shortens_the_speech(speaker: openai.OpenAI) -> None:
    answer = speaker.audio.speech.create(
        model="tts-1", voice="hum", input=TEXT, response_format="pcm", speed=2
    )
    assert seconds_of(answer.content, "pcm") == pytest.approx(TEXT_S / 2, abs=0.02)


def test_audio_arrives_in_pieces(speaker: openai.OpenAI) -> None:
    with speaker.audio.speech.with_streaming_response.create(
        model="tts-1", voice="hum", input=TEXT, response_format="pcm"
    ) as answer:
        pieces = list(answer.iter_bytes())
    assert len(pieces) > 1
    assert seconds_of(b"".join(pieces), "pcm") == pytest.approx(TEXT_S, abs=0.01)


def test_events_carry_the_same_audio_and_end_with_done(client: httpx.Client) -> None:
    fields = {"input": TEXT, "response_format": "pcm", "stream_format": "sse"}
    answer = client.post("/v1/audio/speech", json=fields)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [
        json.loads(line.removeprefix("data: "))
        for line in answer.text.splitlines()
        if line
    ]
    deltas = [event["audio"] for event in events[:-1]]
    assert {event["type"] for event in events[:-1]} == {"speech.audio.delta"}
    assert len(deltas) > 1
    assert events[-1]["type"] == "speech.audio.done"
    assert events[-1]["usage"]["input_tokens"] == len(TEXT)


def test_instructions_are_accepted(speaker: openai.OpenAI) -> None:
    answer = speaker.audio.speech.create(
        model="gpt-4o-mini-tts", voice="hum", input=TEXT, instructions="Be cheerful"
    )
    assert answer.content


def test_voice_may_be_an_object(client: httpx.Client) -> None:
    fields = {"input": "do", "voice": {"id": "hum"}}
    assert client.post("/v1/audio/speech", json=fields).status_code == 200


def test_models_are_listed_and_shown(speaker: openai.OpenAI) -> None:
    ids = [model.id for model in speaker.models.list()]
    assert ids[0] == "tone"
    assert "tts-1" in ids
    assert speaker.models.retrieve("tone").id == "tone"
    with pytest.raises(openai.NotFoundError):
        speaker.models.retrieve("nope")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": ""}, None),
        ({"input": " \n "}, None),
        ({"input": "do", "speed": 0}, "speed"),
        ({"input": "do", "speed": 9}, "speed"),
        ({"input": "do", "speed": "fast"}, "speed"),
        ({"input": "do", "response_format": "midi"}, "response_format"),
        ({"input": "do", "stream_format": "smoke"}, "stream_format"),
        ({"input": "do", "colour": "red"}, "colour"),
        ({"input": "do", "sample_rate": 12345}, "sample_rate"),
        ({"input": 7}, "input"),
        ({}, "input"),
        ([], None),
        ({"input": "a" * 4097}, "input"),
        ({"input": "do", "language": "tlh"}, "language"),
        ({"input": "do", "volume": -1}, "volume"),
    ],
)
def test_bad_field_is_named(
    client: httpx.Client, fields: object, param: str | None
) -> None:
    answer = client.post("/v1/audio/speech", json=fields)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["type"] == "invalid_request_error"
    assert error["param"] == param
    assert error["message"]


def test_unknown_voice_and_model_are_not_found(speaker: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="voice"):
        speaker.audio.speech.create(model="tone", voice="nobody", input="do")
    with pytest.raises(openai.NotFoundError, match="model"):
        speaker.audio.speech.create(model="tts-9", voice="hum", input="do")


def test_bad_speed_raises_the_clients_own_exception(speaker: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        speaker.audio.speech.create(model="tts-1", voice="hum", input="do", speed=9)
    assert caught.value.param == "speed"


@pytest.mark.parametrize(
    ("body", "content_type", "status", "word"),
    [
        (b"{", "application/json", 400, "not JSON"),
        (b'{"input": "\xff"}', "application/json", 400, "UTF-8"),
        (b"[" * 100_000, "application/json", 400, "not JSON"),
        (b'{"input": "do"}', "text/plain", 415, "content type"),
        (b'{"input": "do"}', "", 415, "content type"),
        (b'{"input": "' + b"a" * (1 << 20) + b'"}', "application/json", 413, "1 MiB"),
    ],
)
def test_bad_body_is_refused(
    client: httpx.Client, body: bytes, content_type: str, status: int, word: str
) -> None:
    headers = {"content-type": content_type} if content_type else {}
    answer = client.post("/v1/audio/speech", content=body, headers=headers)
    assert answer.status_code == status
    assert word in answer.json()["error"]["message"]


def test_lone_surrogate_does_not_break_the_answer(client: httpx.Client) -> None:
    body = b'{"input": "do \\ud800", "voice": "\\udfff"}'
    answer = client.post(
        "/v1/audio/speech", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code in (400, 404)


def test_key_is_asked_for_where_there_are_keys(guarded: httpx.Client) -> None:
    fields = {"input": "do"}
    for headers in (
        {},
        {"Authorization": "Bearer third"},
        {"Authorization": "first"},
        {"Authorization": "Basic first"},
    ):
        answer = guarded.post("/v1/audio/speech", json=fields, headers=headers)
        assert answer.status_code == 401
        assert answer.json()["error"]["code"] == "invalid_api_key"
    for key in ("first", "second"):
        headers = {"Authorization": f"Bearer {key}"}
        answer = guarded.post("/v1/audio/speech", json=fields, headers=headers)
        assert answer.status_code == 200
    assert guarded.get("/health").status_code == 200
    assert guarded.get("/metrics").status_code == 401


def test_wrong_key_raises_the_clients_own_exception(guarded: httpx.Client) -> None:
    with (
        openai.OpenAI(
            api_key="wrong", base_url=f"{guarded.base_url}/v1", max_retries=0
        ) as speaker,
        pytest.raises(openai.AuthenticationError),
    ):
        speaker.models.list()


def test_text_limit_is_the_configured_one(tight: httpx.Client) -> None:
    answer = tight.post("/v1/audio/speech", json={"input": "a" * 11})
    assert answer.status_code == 400
    assert "10 are allowed" in answer.json()["error"]["message"]
