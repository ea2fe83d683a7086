"""The plain JSON API."""

import base64
import wave
from io import BytesIO

import httpx
import pytest

from cosykit.audio.decode import decode_audio

PCM = {"response_format": "pcm"}


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
    ("path", "field"), [("/v1/tts", "text"), ("/v1/audio/speech", "input")]
)
def test_language_may_have_a_region(
    client: httpx.Client, path: str, field: str
) -> None:
    assert client.post(path, json={field: "do", "language": "en-US"}).is_success
    refused = client.post(path, json={field: "do", "language": "fr-FR"})
    assert refused.status_code == 400
    assert "language" in refused.text


def test_wav_knows_its_length(client: httpx.Client) -> None:
    fields = {"text": "do re mi", "format": "wav"}
    answer = client.post("/v1/tts", json=fields).json()
    with wave.open(BytesIO(base64.b64decode(answer["audio"]))) as file:
        length_s = file.getnframes() / file.getframerate()
    assert length_s == pytest.approx(answer["duration"], abs=0.001)


def test_long_audio_is_whole(client: httpx.Client) -> None:
    text = "do re mi fa sol la ti " * 20
    answer = client.post("/v1/tts", json={"text": text, "format": "pcm"}).json()
    spoken = client.post("/v1/audio/speech", json={"input": text} | PCM)
    audio = base64.b64decode(answer["audio"], validate=True)
    assert len(audio) > 500_000
    assert audio == spoken.content


def test_failure_has_the_shape_of_the_answer(client: httpx.Client) -> None:
    answer = client.post("/v1/tts", json={"text": "do", "voice": "nobody"})
    assert answer.status_code == 404
    assert answer.json() == {
        "success": False,
        "message": "unknown voice 'nobody'. Known: hum",
        "audio": "",
        "format": None,
        "sample_rate": 0,
        "duration": 0.0,
    }
