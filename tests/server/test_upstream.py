"""The routes of CosyVoice's own server, asked as its own client asks them."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import pytest

from cosykit.audio.encode import Encoder
from cosykit.config.schema import AudioSettings
from cosykit.types import Samples
from tests.patience import PATIENCE_S
from tests.server.conftest import Running, running, settings_for
from tests.server.wire import wired
from tests.synthesis.voice.signals import silence, speech

TEXT = "你好，我是通义千问语音合成大模型。"
VOICE = "中文女"
Files = Mapping[str, tuple[str, bytes, str]]


def upload(name: str, samples: Samples) -> dict[str, tuple[str, bytes, str]]:
    """Attach a recording as the official client does."""
    with Encoder("wav", input_rate=16_000) as encoder:
        content = encoder.encode(samples) + encoder.finish()
    return {name: (name, content, "application/octet-stream")}


PROMPT = upload("prompt_wav", speech(3))
FORMS: Mapping[str, tuple[Mapping[str, str], Files]] = {
    "sft": ({"tts_text": TEXT, "spk_id": VOICE}, {}),
    "zero_shot": ({"tts_text": TEXT, "prompt_text": "希望你做得好。"}, PROMPT),
    "cross_lingual": ({"tts_text": TEXT}, PROMPT),
    "instruct": (
        {"tts_text": TEXT, "spk_id": VOICE, "instruct_text": "A fiery leader."},
        {},
    ),
    "instruct2": ({"tts_text": TEXT, "instruct_text": "用四川话说"}, PROMPT),
    "vc": ({}, PROMPT | upload("source_wav", speech(2))),
}


@pytest.fixture(scope="module")
def instructed(cosyvoice_models: Path) -> Iterator[httpx.Client]:
    """A client of a model that can do everything."""
    settings = settings_for("cosyvoice-300m-instruct")
    settings = settings.model_copy(update={"models_dir": cosyvoice_models})
    with running(settings) as server, server.connected() as client:
        yield client


def ask(
    client: httpx.Client,
    mode: str,
    method: str = "GET",
    *,
    fields: Mapping[str, str] | None = None,
    files: Files | None = None,
) -> httpx.Response:
    """Send the form of a route, with some of it changed."""
    usual_fields, usual_files = FORMS[mode]
    return client.request(
        method,
        f"/inference_{mode}",
        data=usual_fields if fields is None else fields,
        files=(usual_files if files is None else files) or None,
    )


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("mode", FORMS)
def test_form_of_the_official_client_is_spoken(
    instructed: httpx.Client, mode: str, method: str
) -> None:
    answer = ask(instructed, mode, method)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "audio/pcm; rate=22050"
    assert answer.headers["transfer-encoding"] == "chunked"
    assert len(answer.content) > 22_050 // 10 * 2
    assert not len(answer.content) % 2


def test_form_without_files_may_be_multipart_too(client: httpx.Client) -> None:
    parts = {"tts_text": (None, b"do re"), "spk_id": (None, b"hum")}
    answer = client.post("/inference_sft", files=parts)
    assert answer.status_code == 200, answer.text


def test_models_that_are_not_upstreams_speak_at_the_rate_of_its_client(
    client: httpx.Client,
) -> None:
    answer = ask(client, "sft", fields={"tts_text": "do re", "spk_id": "hum"})
    assert answer.headers["content-type"] == "audio/pcm; rate=22050"
    # Four letters of 0.08 s.
    assert len(answer.content) == pytest.approx(4 * 0.08 * 22_050 * 2, abs=4)


@pytest.mark.usefixtures("plugins")
def test_configured_rate_is_taken() -> None:
    settings = settings_for("tone").model_copy(
        update={"audio": AudioSettings(sample_rate=16_000)}
    )
    with running(settings) as server, server.connected() as client:
        answer = ask(client, "sft", fields={"tts_text": "do", "spk_id": "hum"})
        assert answer.headers["content-type"] == "audio/pcm; rate=16000"


@pytest.mark.parametrize("missing", ["tts_text", "spk_id"])
@pytest.mark.parametrize("rest", [{}, {"tts_text": "do", "spk_id": "hum"}])
def test_missing_or_empty_field_is_named_as_fastapi_names_it(
    client: httpx.Client, missing: str, rest: Mapping[str, str]
) -> None:
    fields = {"tts_text": "do", "spk_id": "hum"}
    del fields[missing]
    if rest:
        fields[missing] = ""
    answer = ask(client, "sft", fields=fields)
    assert answer.status_code == 422
    (blame,) = answer.json()["detail"]
    assert blame["loc"] == ["body", missing]
    assert blame["msg"]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_form_at_all_is_refused_by_field(client: httpx.Client, method: str) -> None:
    answer = client.request(method, "/inference_zero_shot")
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "tts_text"]


def test_unknown_field_is_refused(client: httpx.Client) -> None:
    fields = {"tts_text": "do", "spk_id": "hum", "pitch": "2"}
    answer = ask(client, "sft", fields=fields)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "pitch"]


def test_file_in_the_place_of_a_text_is_refused(client: httpx.Client) -> None:
    files = {"tts_text": ("a.txt", b"do", "text/plain")}
    answer = ask(client, "sft", fields={"spk_id": "hum"}, files=files)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "tts_text"]


def test_text_in_the_place_of_a_file_is_refused(client: httpx.Client) -> None:
    fields = {"tts_text": "do", "prompt_wav": "a.wav"}
    answer = ask(client, "cross_lingual", fields=fields, files={})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "prompt_wav"]


@pytest.mark.parametrize(
    ("content", "status"),
    [(b"#EXTM3U\nhttp://127.0.0.1/a.wav\n", 422), (b"RIFF\0", 422), (b"", 422)],
)
def test_upload_that_is_no_audio_is_refused(
    instructed: httpx.Client, content: bytes, status: int
) -> None:
    files = {"prompt_wav": ("prompt_wav", content, "application/octet-stream")}
    answer = ask(instructed, "zero_shot", files=files)
    assert answer.status_code == status
    assert answer.json()["detail"][0]["loc"] == ["body", "prompt_wav"]


def test_silent_upload_is_refused(instructed: httpx.Client) -> None:
    answer = ask(instructed, "zero_shot", files=upload("prompt_wav", silence(3)))
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "prompt_wav"]


def test_unknown_voice_is_not_found(client: httpx.Client) -> None:
    answer = ask(client, "sft", fields={"tts_text": "do", "spk_id": "nobody"})
    assert answer.status_code == 404
    assert "nobody" in answer.json()["detail"]


def test_what_the_model_cannot_do_is_refused(client: httpx.Client) -> None:
    answer = ask(client, "cross_lingual", fields={"tts_text": "do"})
    assert answer.status_code == 422
    assert "cosykit install" in answer.json()["detail"][0]["msg"]


def test_longer_text_than_allowed_is_refused(client: httpx.Client) -> None:
    answer = ask(client, "sft", fields={"tts_text": "x" * 4097, "spk_id": "hum"})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "tts_text"]


@pytest.mark.parametrize("mode", ["sft", "cross_lingual"])
def test_larger_body_than_allowed_is_refused(client: httpx.Client, mode: str) -> None:
    large = b"x" * (5 << 20)
    if mode == "sft":
        answer = ask(client, mode, fields={"tts_text": large.decode(), "spk_id": "hum"})
    else:
        files = {"prompt_wav": ("prompt_wav", large, "application/octet-stream")}
        answer = ask(client, mode, files=files)
    assert answer.status_code == 413
    assert "server.max_body_mb" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b'{"tts_text": "do"}', "application/json", 415),
        (b"--x\r\nnonsense", "multipart/form-data; boundary=x", 422),
        (b"--x\r\n", "multipart/form-data", 422),
        (b"--x--\r\n", "multipart/form-data; boundary=x; charset=nope", 422),
        (b"a=1&" * 100, "application/x-www-form-urlencoded", 422),
        (b"\xff\xfe&&==%zz", "application/x-www-form-urlencoded", 422),
    ],
)
def test_what_is_no_form_is_refused(
    client: httpx.Client, body: bytes, kind: str, status: int
) -> None:
    answer = client.post("/inference_sft", content=body, headers={"Content-Type": kind})
    assert answer.status_code == status
    assert answer.json()["detail"]


def test_stream_that_fails_is_broken_off(counting: Running) -> None:
    with counting.connected() as client, pytest.raises(httpx.RemoteProtocolError):
        ask(client, "sft", fields={"tts_text": "one two fail", "spk_id": "only"})


def test_failure_before_the_first_audio_has_its_status(counting: Running) -> None:
    with counting.connected() as client:
        answer = ask(client, "sft", fields={"tts_text": "fail", "spk_id": "only"})
    assert answer.status_code == 503
    assert answer.json() == {"detail": "the disk is full. Free some space"}


def test_client_that_leaves_ends_its_request(counting: Running) -> None:
    body = b"tts_text=one+wait+two&spk_id=only"
    head = (
        "GET /inference_sft HTTP/1.1\r\nHost: test\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with wired(counting.port) as wire:
        wire.send(head.encode() + body)
        assert b" 200 " in wire.read_until(b"\r\n\r\n")
        assert counting.engine.held.wait(PATIENCE_S)
        wire.break_off()
    assert counting.engine.cancelled.get(timeout=PATIENCE_S)


def test_key_is_asked_for(guarded: Running) -> None:
    with guarded.connected() as client:
        fields = {"tts_text": "do", "spk_id": "hum"}
        assert ask(client, "sft", fields=fields).status_code == 401
        client.headers["Authorization"] = "Bearer first"
        assert ask(client, "sft", fields=fields).status_code == 200


def test_document_describes_the_forms(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    for mode in FORMS:
        for method in ("get", "post"):
            described = document["paths"][f"/inference_{mode}"][method]
            assert set(described["requestBody"]["content"]) == {
                "multipart/form-data",
                "application/x-www-form-urlencoded",
            }
            assert "422" in described["responses"]
    upload_field = document["components"]["schemas"]["ZeroShotForm"]["properties"]
    assert upload_field["prompt_wav"]["format"] == "binary"
