"""Where nobody names a model, one answers that can do what is asked."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.server.conftest import running
from tests.server.test_cloning_api import (
    CLONES,
    CONVERT,
    INSTRUCTS,
    REFERENCE,
    SFT,
    SPEECH,
    TEXT,
    TTS,
    VOICES,
    settings_of,
)


@pytest.fixture(scope="module")
def client(
    cosyvoice_models: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """A client of a server that has three models, and may choose."""
    folder = tmp_path_factory.mktemp("models")
    for model in (SFT, CLONES, INSTRUCTS):
        shutil.copytree(cosyvoice_models / model, folder / model)
    with running(settings_of("auto", folder)) as server, server.connected() as it:
        yield it


def speaker_of(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    assert answer.content
    return answer.headers["x-cosykit-model"]


@pytest.mark.parametrize(
    ("asked", "able"),
    [
        ({}, SFT),
        ({"voice": "zh_male"}, SFT),
        ({"model": "tts-1", "prompt_audio": REFERENCE}, CLONES),
        ({"instructions": "A calm speaker.", "voice": "zh_male"}, INSTRUCTS),
        ({"instructions": "Be calm.", "prompt_audio": REFERENCE}, INSTRUCTS),
        ({"instructions": " "}, SFT),
        ({"model": SFT}, SFT),
    ],
)
def test_model_that_can_speaks(
    client: httpx.Client, asked: dict[str, object], able: str
) -> None:
    answer = client.post(SPEECH, json={"input": TEXT, "seed": 1, **asked})
    assert speaker_of(answer) == able
    assert "x-cosykit-ignored" not in answer.headers


def test_model_that_follows_instructions_is_found(client: httpx.Client) -> None:
    asked = {"text": TEXT, "instruct": "A calm speaker.", "seed": 1}
    assert speaker_of(client.post(TTS, json=asked)) == INSTRUCTS


def test_model_that_converts_is_found(client: httpx.Client) -> None:
    asked = {"audio": REFERENCE, "prompt_audio": REFERENCE}
    assert speaker_of(client.post(CONVERT, json=asked)) == CLONES


def test_added_voice_is_found_wherever_it_is(client: httpx.Client) -> None:
    added = client.post(VOICES, json={"name": "Anna", "audio": REFERENCE})
    assert added.status_code == 201, added.text
    assert added.json()["model"] == CLONES
    spoken = client.post(SPEECH, json={"input": TEXT, "voice": "anna", "seed": 1})
    assert speaker_of(spoken) == CLONES
    asked = {"input": TEXT, "voice": "anna", "instructions": "A calm speaker."}
    spoken = client.post(SPEECH, json=asked)
    assert speaker_of(spoken) == CLONES
    assert spoken.headers["x-cosykit-ignored"] == "instructions"
    listed = client.get(VOICES, params={"model": CLONES}).json()
    assert listed["model"] == CLONES
    assert "Anna" in {voice["id"] for voice in listed["voices"]}
    removed = client.delete(f"{VOICES}/Anna")
    assert removed.status_code == 200, removed.text
    gone = client.post(SPEECH, json={"input": TEXT, "voice": "anna"})
    assert gone.status_code == 404


def test_named_model_is_not_exchanged(client: httpx.Client) -> None:
    asked = {"input": TEXT, "model": SFT, "prompt_audio": REFERENCE}
    answer = client.post(SPEECH, json=asked)
    assert answer.status_code == 400
    assert f"{SFT} does not clone voices" in answer.text


def test_configured_model_is_not_exchanged(cosyvoice_models: Path) -> None:
    settings = settings_of(SFT, cosyvoice_models)
    with running(settings) as server, server.connected() as client:
        asked = {"input": TEXT, "prompt_audio": REFERENCE}
        answer = client.post(SPEECH, json=asked)
    assert answer.status_code == 400
    assert f"{SFT} does not clone voices" in answer.text


def test_instructions_that_no_installed_model_follows_are_in_nobodys_way(
    cosyvoice_models: Path, tmp_path: Path
) -> None:
    for model in (SFT, CLONES):
        shutil.copytree(cosyvoice_models / model, tmp_path / model)
    asked = {"input": TEXT, "instructions": "A calm speaker."}
    with (
        running(settings_of("auto", tmp_path)) as server,
        server.connected() as client,
    ):
        for more, able in (({}, SFT), ({"prompt_audio": REFERENCE}, CLONES)):
            answer = client.post(SPEECH, json={**asked, **more})
            assert speaker_of(answer) == able
            assert answer.headers["x-cosykit-ignored"] == "instructions"
