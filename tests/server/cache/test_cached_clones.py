"""Cloned and converted speech is kept too, by what the recordings hold."""

import base64
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from cosykit.audio.encode import Encoder
from cosykit.types import Samples
from tests.server.conftest import running, settings_for
from tests.synthesis.voice.signals import speech

MODEL = "cosyvoice-300m-instruct"
SPEECH, CONVERT, VOICES = "/v1/audio/speech", "/v1/audio/convert", "/v1/audio/voices"


def encoded(samples: Samples) -> str:
    with Encoder("wav", input_rate=16_000) as encoder:
        content = encoder.encode(samples) + encoder.finish()
    return base64.b64encode(content).decode()


LONG, SHORT = encoded(speech(3)), encoded(speech(2))


@pytest.fixture(scope="module")
def client(
    cosyvoice_models: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    models_dir = tmp_path_factory.mktemp("models")
    shutil.copytree(cosyvoice_models / MODEL, models_dir / MODEL)
    settings = settings_for(MODEL, cache={"store": "memory"})
    settings = settings.model_copy(update={"models_dir": models_dir})
    with running(settings) as server, server.connected() as connected:
        yield connected


def answered(client: httpx.Client, path: str = SPEECH, **fields: object) -> list[str]:
    """Tell whether an answer was in the cache, and what it remarks."""
    answer = client.post(path, json=fields)
    assert answer.status_code == 200, answer.text
    names = ("x-cosykit-cache", "x-cosykit-remarks")
    return [answer.headers.get(name, "") for name in names]


def test_voice_of_the_same_name_is_not_the_same_voice(client: httpx.Client) -> None:
    for recording, status in ((LONG, "miss"), (SHORT, "miss"), (LONG, "hit")):
        added = client.post(VOICES, json={"name": "mine", "audio": recording})
        assert added.status_code == 201, added.text
        assert answered(client, input="你好。", voice="mine")[0] == status
        assert client.delete(f"{VOICES}/mine").status_code == 200


def test_spaces_around_a_text_make_no_other_speech(client: httpx.Client) -> None:
    texts = ("明天见。", "明天见。\n", " \n明天见。\u3000")
    status = [answered(client, input=text)[0] for text in texts]
    assert status == ["miss", "hit", "hit"]


def test_recordings_are_told_apart_and_remarked_on_again(client: httpx.Client) -> None:
    miss, remarks = answered(client, input="你好。", prompt_audio=SHORT)
    assert miss == "miss"
    assert remarks
    assert answered(client, input="你好。", prompt_audio=SHORT) == ["hit", remarks]
    assert answered(client, input="你好。", prompt_audio=LONG)[0] == "miss"


def test_converted_speech_is_kept_by_both_recordings(client: httpx.Client) -> None:
    for audio, prompt, status in (
        (LONG, SHORT, "miss"),
        (LONG, SHORT, "hit"),
        (SHORT, SHORT, "miss"),
        (LONG, LONG, "miss"),
    ):
        told = answered(client, CONVERT, audio=audio, prompt_audio=prompt)
        assert told[0] == status


def test_seed_makes_another_take(client: httpx.Client) -> None:
    for status in ("miss", "hit"):
        assert answered(client, input="再见。", voice="中文女")[0] == status
    for status in ("miss", "hit"):
        assert answered(client, input="再见。", voice="中文女", seed=1)[0] == status


def test_what_cannot_be_spoken_is_refused_as_without_a_cache(
    client: httpx.Client,
) -> None:
    for fields, param in (
        ({"input": "！"}, "input"),
        ({"input": "你好。", "voice": "nobody"}, "voice"),
    ):
        error = client.post(SPEECH, json=fields).json()["error"]
        assert error["param"] == param
