"""OpenAI's own client talks to the server as it does to OpenAI."""

import json
from collections.abc import Iterator
from typing import Literal

import httpx
import openai
import pytest

from cosykit.audio.decode import decode_audio
from cosykit.audio.formats import AUDIO_FORMATS, AudioFormat
from tests.server.conftest import Running

# The example engine hums 0.08 s a letter.
TEXT = "do re mi fa sol la ti do"
TEXT_S = 17 * 0.08
PADDING_S = 0.09


@pytest.fixture
def speaker(tone: Running) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        api_key="unused", base_url=f"{tone.url}/v1", max_retries=0
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


def test_pitch_leaves_the_tempo_as_it_is(client: httpx.Client) -> None:
    usual, higher = (
        client.post(
            "/v1/audio/speech",
            json={"input": TEXT, "response_format": "pcm", "pitch": pitch},
        ).content
        for pitch in (1.0, 1.5)
    )
    assert higher != usual
    assert len(higher) == pytest.approx(len(usual), rel=0.01)


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


@pytest.mark.parametrize("stream_format", ["audio", "sse"])
def test_instructions_that_are_not_followed_are_told(
    speaker: openai.OpenAI, stream_format: Literal["audio", "sse"]
) -> None:
    for instructions, ignored in (("Be cheerful", "instructions"), (" ", None)):
        answer = speaker.audio.speech.create(
            model="gpt-4o-mini-tts",
            voice="hum",
            input=TEXT,
            instructions=instructions,
            stream_format=stream_format,
        )
        assert answer.content
        assert answer.response.headers.get("x-cosykit-ignored") == ignored


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
        ({"input": ""}, "input"),
        ({"input": " "}, "input"),
        ({"input": "a" * 4097}, "input"),
        ({"input": "do", "speed": 9}, "speed"),
        ({"input": "do", "response_format": "midi"}, "response_format"),
        ({"input": "do", "stream_format": "smoke"}, "stream_format"),
        ({"input": "do", "colour": "red"}, "colour"),
        ({"input": "do", "sample_rate": 12345}, "sample_rate"),
        ({"input": "do", "volume": -1}, "volume"),
        ({"input": "do", "pitch": 3}, "pitch"),
        ({"input": "do", "speed": 4, "pitch": 0.5}, "speed"),
        ({"input": "do", "voice": {"id": 7}}, "voice"),
        ({"input": "do", "voice": {"name": "hum"}}, "voice"),
        ({}, "input"),
        ([], None),
    ],
)
def test_bad_field_is_named(
    client: httpx.Client, fields: object, param: str | None
) -> None:
    answer = client.post("/v1/audio/speech", json=fields)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["type"] == "invalid_request_error"
    assert error["code"] == "invalid_input"
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


def test_wrong_key_raises_the_clients_own_exception(guarded: Running) -> None:
    for key, expected in (("wrong", openai.AuthenticationError), ("second", None)):
        with openai.OpenAI(
            api_key=key, base_url=f"{guarded.url}/v1", max_retries=0
        ) as speaker:
            if expected is None:
                assert list(speaker.models.list())
            else:
                with pytest.raises(expected):
                    speaker.models.list()
