"""Bodies that no client should send are refused clearly, whichever route they go to."""

import httpx
import pytest

from tests.server.conftest import Running, running, settings_for

SPEECH, TTS = "/v1/audio/speech", "/v1/tts"
JSON = {"Content-Type": "application/json"}


def message_of(answer: httpx.Response) -> str:
    """Find the message in the shape of either route."""
    content = answer.json()
    message = content["error"]["message"] if "error" in content else content["message"]
    assert isinstance(message, str)
    return message


@pytest.mark.parametrize(("path", "field"), [(SPEECH, "input"), (TTS, "text")])
@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        ("", 400, "not JSON"),
        ("{", 400, "not JSON"),
        ('{"TEXT": "do"} {}', 400, "not JSON"),
        ("[" * 100_000, 400, "not JSON"),
        ('{"TEXT": "do \\ud800"}', 400, "not JSON"),
        ('{"TEXT": "do\0"}', 400, "not JSON"),
        ('{"TEXT": "do", "speed": ' + "9" * 5000 + "}", 400, "not JSON"),
        ("null", 400, "the body: input should be an object"),
        ("[]", 400, "the body: input should be an object"),
        ("{}", 400, "TEXT: field required"),
        ('{"TEXT": null}', 400, "TEXT: input should be a valid string"),
        ('{"TEXT": 7}', 400, "TEXT: input should be a valid string"),
        ('{"TEXT": ["do"]}', 400, "TEXT: input should be a valid string"),
        ('{"TEXT": ""}', 400, "TEXT: string should have at least 1 character"),
        ('{"TEXT": " \\n\\u3000 "}', 400, "nothing"),
        ('{"TEXT": "do", "speed": 0}', 400, "speed: "),
        ('{"TEXT": "do", "speed": 9}', 400, "speed: "),
        ('{"TEXT": "do", "speed": NaN}', 400, "speed: input should be a finite"),
        ('{"TEXT": "do", "speed": -Infinity}', 400, "speed: input should be a finite"),
        ('{"TEXT": "do", "speed": 1e999}', 400, "speed: input should be a finite"),
        ('{"TEXT": "do", "speed": true}', 400, "speed: input should be a valid number"),
        ('{"TEXT": "do", "speed": "1"}', 400, "speed: input should be a valid number"),
        ('{"TEXT": "do", "speed": "١"}', 400, "speed: input should be a valid number"),
        ('{"TEXT": "do", "sample_rate": true}', 400, "sample_rate: input should be"),
        ('{"TEXT": "do", "sample_rate": 24e3}', 400, "sample_rate: input should be"),
        ('{"TEXT": "do", "sample_rate": 12345}', 400, "12345 samples a second"),
        ('{"TEXT": "do", "sample_rate": -1}', 400, "-1 samples a second"),
        ('{"TEXT": "do", "voice": 7}', 400, "voice: input should be a valid string"),
        ('{"TEXT": "do", "voice": ""}', 400, "voice: string should have at least 1"),
        ('{"TEXT": "do", "voice": "' + "v" * 257 + '"}', 400, "voice: string should"),
        ('{"TEXT": "do", "voice": "nobody"}', 404, "unknown voice 'nobody'"),
        ('{"TEXT": "do", "voice": "h\\u0000m"}', 404, "unknown voice"),
        ('{"TEXT": "do", "language": "tlh"}', 400, "language: "),
        ('{"TEXT": "do", "colour": "red"}', 400, "colour: unknown field"),
        ('{"TEXT": "do", "' + "x" * 500_000 + '": 1}', 400, "x" * 64 + ": unknown"),
        ('{"TEXT": "' + "a" * 4097 + '"}', 400, "4097 characters, 4096 are allowed"),
        ('{"TEXT": "do"' + ', "": 1' * 90_000 + "}", 400, "too many fields"),
        ('{"TEXT": [' + "[]," * 90_000 + "[]]}", 400, "too many fields"),
        ('{"TEXT": "' + r"\"[]:\\" * 9000 + '"}', 400, "45000 characters"),
        ('{"TEXT": "' + "a" * (4 << 20) + '"}', 413, "longer than 4 MiB"),
    ],
)
def test_bad_body_is_refused_with_its_reason(
    client: httpx.Client, path: str, field: str, body: str, status: int, word: str
) -> None:
    content = body.replace("TEXT", field).encode()
    answer = client.post(path, content=content, headers=JSON)
    assert answer.status_code == status
    message = message_of(answer)
    assert word.replace("TEXT", field) in message
    assert len(message) < 600


@pytest.mark.parametrize("path", [SPEECH, TTS])
def test_bytes_that_are_not_utf8_are_refused_with_their_place(
    client: httpx.Client, path: str
) -> None:
    answer = client.post(path, content=b'{"input": "\xff"}', headers=JSON)
    assert answer.status_code == 400
    assert "not UTF-8 at byte 11" in message_of(answer)


@pytest.mark.parametrize("path", [SPEECH, TTS])
@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "application/x-www-form-urlencoded", "json", "x" * 5000],
)
def test_body_that_is_not_declared_as_json_is_refused(
    client: httpx.Client, path: str, content_type: str
) -> None:
    headers = {"Content-Type": content_type} if content_type else {}
    answer = client.post(path, content=b'{"input": "do"}', headers=headers)
    assert answer.status_code == 415
    assert "content type" in message_of(answer)
    assert len(message_of(answer)) < 300


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ('{"input": "do"}', "application/json; charset=utf-8"),
        ('{"input": "do"}', "Application/JSON"),
        ('\ufeff{"input": "do"}', "application/json"),
        ('{"input": "", "input": "do"}', "application/json"),
        ('{"input": "do", "speed": 1}', "application/json"),
        (
            '{"input": "do", "voice": {"id": "hum"}, "language": null}',
            "application/json",
        ),
        ('{"input": "do\\u0000\\ud83d\\ude00"}', "application/json"),
    ],
)
def test_unusual_body_is_taken(
    client: httpx.Client, body: str, content_type: str
) -> None:
    headers = {"Content-Type": content_type}
    answer = client.post(SPEECH, content=body.encode(), headers=headers)
    assert answer.status_code == 200


def test_body_may_come_in_chunks(client: httpx.Client) -> None:
    parts = iter([b'{"inp', b'ut": "', b'do"}'])
    assert client.post(SPEECH, content=parts, headers=JSON).status_code == 200
    flood = (b" " * 65536 for _ in range(65))
    assert client.post(SPEECH, content=flood, headers=JSON).status_code == 413
    # The connection is fit for the next request all the same.
    assert client.get("/health").status_code == 200


def test_limits_and_defaults_are_the_configured_ones(plugins: None) -> None:
    settings = settings_for("tone", server={"max_text_chars": 10})
    audio = settings.audio.model_copy(update={"format": "flac", "sample_rate": 22_050})
    with (
        running(settings.model_copy(update={"audio": audio})) as server,
        server.connected() as client,
    ):
        answer = client.post(SPEECH, json={"input": "a" * 11})
        assert answer.status_code == 400
        assert "10 are allowed" in message_of(answer)
        answer = client.post(TTS, json={"text": "do"})
        assert (answer.json()["format"], answer.json()["sample_rate"]) == (
            "flac",
            22_050,
        )
        answer = client.post(SPEECH, json={"input": "do", "response_format": "pcm"})
        assert answer.headers["content-type"] == "audio/pcm; rate=22050"
        # Opus cannot hold that rate, but nobody asked for it with this request.
        answer = client.post(SPEECH, json={"input": "do", "response_format": "opus"})
        assert answer.status_code == 200


def test_unknown_model_is_not_found(client: httpx.Client, tone: Running) -> None:
    answer = client.post(SPEECH, json={"input": "do", "model": "tts-9"})
    assert answer.status_code == 404
    assert answer.json()["error"]["param"] == "model"
    answer = client.post(SPEECH, json={"input": "do", "model": "m" * 257})
    assert answer.status_code == 400
    assert client.get("/v1/models/" + "m" * 5000).status_code == 404
