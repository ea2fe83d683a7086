"""The plain JSON API."""

import base64

import httpx
import pytest

from cosykit.audio.decode import decode_audio


@pytest.mark.parametrize("field", ["voice", "speaker_id"])
def test_answer_holds_the_audio_and_its_facts(client: httpx.Client, field: str) -> None:
    fields = {"text": "do re mi", field: "hum", "speed": 1.0}
    answer = client.post("/v1/tts", json=fields).json()
    samples, rate = decode_audio(base64.b64decode(answer["audio"]))
    assert answer["success"] is True
    assert answer["message"] == ""
    assert answer["sample_rate"] == rate == 24_000
    assert answer["duration"] == pytest.approx(samples.size / rate, abs=0.001)
    assert answer["duration"] == pytest.approx(6 * 0.08, abs=0.001)


@pytest.mark.parametrize(
    ("fields", "status", "word"),
    [
        ({"text": ""}, 400, "nothing"),
        ({"text": "do", "voice": "nobody"}, 404, "voice"),
        ({"text": "do", "speed": 9}, 400, "speed"),
        ({"words": "do"}, 400, "text"),
        ({"text": "a" * 5000}, 400, "4096"),
    ],
)
def test_failure_has_the_shape_of_the_answer(
    client: httpx.Client, fields: dict[str, object], status: int, word: str
) -> None:
    answer = client.post("/v1/tts", json=fields)
    assert answer.status_code == status
    assert answer.json()["success"] is False
    assert word in answer.json()["message"]
    assert answer.json()["audio"] == ""
