"""Clone, convert and instruct over HTTP, with tiny models of random weights."""

import base64
import json
import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest

from cosykit.audio.decode import decode_audio
from cosykit.audio.encode import Encoder
from cosykit.audio.formats import AudioFormat
from cosykit.config.schema import Settings
from cosykit.engines.cosyvoice.engine import CosyVoiceEngine
from cosykit.hub.voice_file import StoredVoice
from cosykit.synthesis.voice.store import VoiceStore
from cosykit.types import Samples, SpeechRequest
from tests.patience import PATIENCE_S
from tests.server.conftest import Running, running, settings_for
from tests.synthesis.voice.signals import silence, speech

CLONES, SFT, INSTRUCTS = (f"cosyvoice-300m{end}" for end in ("", "-sft", "-instruct"))
SPEECH, TTS, CONVERT = "/v1/audio/speech", "/v1/tts", "/v1/audio/convert"
VOICES = "/v1/audio/voices"
TEXT = "你好。"


def encoded(
    samples: Samples, audio_format: AudioFormat = "wav", rate: int = 16_000
) -> str:
    with Encoder(audio_format, input_rate=rate) as encoder:
        content = encoder.encode(samples) + encoder.finish()
    return base64.b64encode(content).decode()


REFERENCE = encoded(speech(3))


def settings_of(model: str, folder: Path) -> Settings:
    return settings_for(model).model_copy(update={"models_dir": folder})


@pytest.fixture(scope="module")
def instructed(cosyvoice_models: Path) -> Iterator[Running]:
    """A server whose model can do everything; for tests that leave nothing behind."""
    with running(settings_of(INSTRUCTS, cosyvoice_models)) as server:
        yield server


@pytest.fixture(scope="module")
def client(instructed: Running) -> Iterator[httpx.Client]:
    with instructed.connected() as connected:
        yield connected


@pytest.fixture
def cloner(cosyvoice_models: Path, tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of a server whose model has no voice yet."""
    shutil.copytree(cosyvoice_models / CLONES, tmp_path / CLONES)
    with running(settings_of(CLONES, tmp_path)) as server, server.connected() as it:
        yield it


def audio_of(client: httpx.Client, **fields: object) -> bytes:
    """Speak over either route alike; give the audio."""
    body = {"input": TEXT, "response_format": "wav", "seed": 1} | fields
    answer = client.post(SPEECH, json=body)
    assert answer.status_code == 200, answer.text
    samples, rate = decode_audio(answer.content)
    assert rate == 22_050
    assert samples.size
    assert "x-cosykit-ignored" not in answer.headers
    return answer.content


def test_recording_lends_its_voice_to_a_text(client: httpx.Client) -> None:
    spoken = {
        audio_of(client),
        audio_of(client, prompt_audio=REFERENCE),
        audio_of(client, prompt_audio=REFERENCE, prompt_text="今天天气很好"),
        audio_of(client, instructions="Speak merrily"),
        audio_of(client, seed=2),
        audio_of(client, top_k=1),
        audio_of(client, top_p=0.01),
        audio_of(client, tau_r=0),
    }
    assert len(spoken) == 8
    # OpenAI's clients have to name a voice.
    assert audio_of(client, prompt_audio=REFERENCE, voice="alloy") in spoken


def test_both_routes_speak_alike(client: httpx.Client) -> None:
    fields = {"prompt_audio": REFERENCE, "prompt_text": "今天天气很好", "seed": 3}
    spoken = [
        client.post(TTS, json={"text": TEXT, "instruct": instruct} | fields).json()
        for instruct in (None, "Speak merrily")
    ]
    assert [answer["success"] for answer in spoken] == [True, True]
    assert spoken[0]["audio"] != spoken[1]["audio"]


@pytest.mark.parametrize(
    "prompt",
    [
        f"data:audio/wav;base64,{REFERENCE}",
        "\n".join(REFERENCE[at : at + 76] for at in range(0, len(REFERENCE), 76)),
    ],
)
def test_audio_may_be_a_uri_or_wrapped(client: httpx.Client, prompt: str) -> None:
    expected = audio_of(client, prompt_audio=REFERENCE)
    assert audio_of(client, prompt_audio=prompt) == expected


def test_flaws_of_the_recording_are_in_a_header(client: httpx.Client) -> None:
    brief = encoded(speech(2, rate=48_000), "opus", 48_000)
    answer = client.post(SPEECH, json={"input": TEXT, "prompt_audio": brief})
    assert answer.status_code == 200
    assert answer.headers["x-cosykit-remarks"].startswith("The recording is short")
    answer = client.post(SPEECH, json={"input": TEXT, "prompt_audio": REFERENCE})
    assert "x-cosykit-remarks" not in answer.headers


@pytest.mark.parametrize(
    ("fields", "word", "param"),
    [
        ({"prompt_audio": "§§§"}, "is not base64", "prompt_audio"),
        ({"prompt_audio": "QUJ"}, "is not base64", "prompt_audio"),
        ({"prompt_audio": "data:audio/wav,abc"}, "is not base64", "prompt_audio"),
        ({"prompt_audio": ""}, "at least 1 character", "prompt_audio"),
        ({"prompt_audio": "QUJD"}, "no audio", "prompt_audio"),
        ({"prompt_audio": encoded(silence(4))}, "is silent", "prompt_audio"),
        ({"prompt_audio": encoded(speech(0.5))}, "only 0.5 s", "prompt_audio"),
        ({"prompt_text": "x"}, "there is none", "prompt_text"),
        ({"seed": -1}, "greater than or equal to 0", "seed"),
        ({"seed": 1 << 32}, "less than or equal to", "seed"),
        ({"top_p": 0}, "greater than or equal to 0.01", "top_p"),
        ({"top_k": 0}, "greater than or equal to 1", "top_k"),
        ({"win_size": 0}, "greater than or equal to 1", "win_size"),
        ({"tau_r": 2.1}, "less than or equal to 2", "tau_r"),
    ],
)
@pytest.mark.parametrize(("path", "field"), [(SPEECH, "input"), (TTS, "text")])
def test_wrong_field_is_refused_with_its_name(
    client: httpx.Client,
    path: str,
    field: str,
    fields: dict[str, object],
    word: str,
    param: str,
) -> None:
    answer = client.post(path, json={field: TEXT} | fields)
    assert answer.status_code == 400
    content = answer.json()
    assert word in (content["error"] if path == SPEECH else content)["message"]
    if path == SPEECH:
        assert content["error"]["param"] == param


def test_too_much_is_refused(client: httpx.Client) -> None:
    long = encoded(speech(31))
    answer = client.post(SPEECH, json={"input": TEXT, "prompt_audio": long})
    assert answer.status_code == 413
    assert "at most 30 s" in answer.json()["error"]["message"]
    huge = encoded(speech(40, rate=48_000), rate=48_000)
    answer = client.post(SPEECH, json={"input": TEXT, "prompt_audio": huge})
    assert answer.status_code == 413
    assert "server.max_body_mb" in answer.json()["error"]["message"]


def test_speech_is_said_again(client: httpx.Client) -> None:
    audio = encoded(speech(3, rate=24_000), "mp3", 24_000)
    voices: Sequence[dict[str, object]] = (
        {"voice": "zh_male"},
        {"voice": "en_female"},
        {"prompt_audio": REFERENCE},
    )
    spoken = set()
    for voice in voices:
        body = {"audio": audio, "seed": 1, "response_format": "flac"} | voice
        answer = client.post(CONVERT, json=body)
        assert answer.headers["content-type"] == "audio/flac"
        samples, rate = decode_audio(answer.content)
        assert samples.size / rate == pytest.approx(3, abs=0.1)
        spoken.add(answer.content)
    assert len(spoken) == 3


@pytest.mark.parametrize(
    ("fields", "status", "word", "param"),
    [
        ({}, 400, "field required", "audio"),
        ({"audio": "§"}, 400, "is not base64", "audio"),
        ({"audio": "QUJD"}, 400, "no audio", "audio"),
        ({"audio": encoded(silence(1))}, 400, "is silent", "audio"),
        ({"audio": encoded(speech(0.05))}, 400, "too short to be", "audio"),
        ({"audio": REFERENCE, "voice": "nobody"}, 404, "unknown voice", "voice"),
        ({"audio": REFERENCE, "text": "x"}, 400, "unknown field", "text"),
        (
            {"audio": REFERENCE, "prompt_audio": encoded(speech(0.5))},
            400,
            "only 0.5 s",
            "prompt_audio",
        ),
    ],
)
def test_speech_that_cannot_be_said_again_is_refused(
    client: httpx.Client, fields: object, status: int, word: str, param: str
) -> None:
    answer = client.post(CONVERT, json=fields)
    assert answer.status_code == status
    assert word in answer.json()["error"]["message"]
    assert answer.json()["error"]["param"] == param


def test_model_that_cannot_says_which_can(
    plugins: None, cosyvoice_models: Path
) -> None:
    with (
        running(settings_of(SFT, cosyvoice_models)) as server,
        server.connected() as client,
    ):
        for path, fields, word in (
            (SPEECH, {"input": TEXT, "prompt_audio": REFERENCE}, "not clone voices"),
            (TTS, {"text": TEXT, "instruct": "x"}, "not follow instructions"),
            (CONVERT, {"audio": REFERENCE}, "not convert voices"),
            (VOICES, {"name": "anna", "audio": REFERENCE}, "not clone voices"),
        ):
            answer = client.post(path, json=fields)
            assert answer.status_code == 400
            assert word in answer.text
            assert "cosykit install cosyvoice-300m" in answer.text
        answer = client.request("DELETE", f"{VOICES}/zh_female")
        assert answer.status_code == 400


def test_voice_is_added_used_and_removed(cloner: httpx.Client) -> None:
    answer = cloner.post(SPEECH, json={"input": TEXT})
    assert answer.status_code == 404
    assert "cosykit voices add NAME" in answer.json()["error"]["message"]

    fields = {"name": "安娜", "audio": REFERENCE, "text": "今天天气很好"}
    answer = cloner.post(VOICES, json=fields)
    assert answer.status_code == 201, answer.text
    assert answer.json()["remarks"] == []
    assert answer.json()["voice"]["id"] == "安娜"
    (voice,) = cloner.get(VOICES).json()["voices"]
    assert voice == answer.json()["voice"]
    assert voice["languages"][0] == "zh"

    prompt = {"prompt_audio": REFERENCE, "prompt_text": "今天天气很好"}
    assert audio_of(cloner, voice="安娜") == audio_of(cloner, **prompt)

    assert cloner.post(VOICES, json=fields).status_code == 400
    again = cloner.post(VOICES, json=fields | {"replace": True, "language": "en"})
    assert again.json()["voice"]["languages"][0] == "en"

    removed = cloner.delete(f"{VOICES}/安娜")
    assert removed.json() == {"id": "安娜", "object": "voice", "deleted": True}
    assert cloner.delete(f"{VOICES}/安娜").status_code == 404
    assert cloner.get(VOICES).json() == {"model": CLONES, "voices": []}


def test_voice_goes_by_its_name_however_its_letters_are_composed(
    cloner: httpx.Client,
) -> None:
    composed, decomposed = "Zo\u00eb", "Zoe\u0308"
    answer = cloner.post(VOICES, json={"name": decomposed, "audio": REFERENCE})
    assert answer.status_code == 201, answer.text
    assert answer.json()["voice"]["id"] == composed
    assert audio_of(cloner, voice=decomposed) == audio_of(cloner, voice=composed)
    assert cloner.delete(f"{VOICES}/{decomposed}").status_code == 200


def test_voice_that_is_removed_as_soon_as_it_is_there_is_not_found(
    cloner: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = VoiceStore.add

    def add_in_vain(
        store: VoiceStore, voice: StoredVoice, *, replaces: bool = False
    ) -> None:
        add(store, voice, replaces=replaces)
        store.remove(voice.id)

    monkeypatch.setattr(VoiceStore, "add", add_in_vain)
    answer = cloner.post(VOICES, json={"name": "anna", "audio": REFERENCE})
    assert answer.status_code == 404
    assert answer.json()["error"]["param"] == "name"


@pytest.mark.parametrize(
    ("fields", "word", "param"),
    [
        ({"name": "a/b"}, "cannot be the name", "name"),
        ({"name": "../../x"}, "cannot be the name", "name"),
        ({"name": "auto"}, "cannot be called auto", "name"),
        ({"name": "zh_female"}, "already", "name"),
        ({"name": "x", "audio": "§"}, "is not base64", "audio"),
        ({"name": "x", "audio": "QUJD"}, "no audio", "audio"),
        ({"name": "x", "audio": encoded(silence(4))}, "is silent", "audio"),
        ({"name": "x", "language": "tlh"}, "language: ", "language"),
        ({"name": "zh_female", "replace": True}, "already", "name"),
    ],
)
def test_voice_that_cannot_be_added_is_refused(
    client: httpx.Client, fields: dict[str, object], word: str, param: str
) -> None:
    answer = client.post(VOICES, json={"audio": REFERENCE} | fields)
    assert answer.status_code == 400
    assert word in answer.json()["error"]["message"]
    assert answer.json()["error"]["param"] == param


def test_overlong_name_is_not_echoed_whole(client: httpx.Client) -> None:
    long = "x" * 3000
    voices = "/v1/audio/voices"
    for answer in (
        client.delete(f"{voices}/{long}"),
        client.get(voices, params={"model": long}),
        client.get(f"/v1/models/{long}"),
        client.post(voices, params={"model": long}, json={"name": "a", "audio": "a"}),
    ):
        assert answer.status_code in (400, 404)
        assert "xxx" in answer.text
        assert len(answer.text) < 500


def test_voice_that_came_with_the_model_stays(client: httpx.Client) -> None:
    answer = client.delete(f"{VOICES}/zh_female")
    assert answer.status_code == 400
    assert "came with the model and stays" in answer.json()["error"]["message"]


def test_speech_goes_on_while_a_recording_is_measured(
    instructed: Running, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, gate = threading.Event(), threading.Event()
    listen = CosyVoiceEngine.listen

    def slowly(engine: CosyVoiceEngine, request: SpeechRequest) -> Sequence[str]:
        begun.set()
        assert gate.wait(PATIENCE_S)
        return listen(engine, request)

    monkeypatch.setattr(CosyVoiceEngine, "listen", slowly)
    answers: list[bytes] = []
    with instructed.connected() as other:
        measured = threading.Thread(
            target=lambda: answers.append(audio_of(other, prompt_audio=REFERENCE))
        )
        measured.start()
        assert begun.wait(PATIENCE_S)
        audio_of(client)
        assert not answers
        gate.set()
        measured.join()
    assert answers


def test_document_describes_what_is_not_openais(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    for name in ("SpeechBody", "TtsBody"):
        fields = schemas[name]["properties"]
        for field in ("prompt_audio", "prompt_text", "seed", "top_p", "top_k", "tau_r"):
            assert "not OpenAI's" in json.dumps(fields[field])
    assert {"get", "post"} == set(document["paths"][VOICES])
    assert {"delete"} == set(document["paths"][f"{VOICES}/{{voice}}"])
    assert "audio" in schemas["ConversionBody"]["required"]
    assert "201" in document["paths"][VOICES]["post"]["responses"]
