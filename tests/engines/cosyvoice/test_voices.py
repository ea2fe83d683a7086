"""Voices of recordings are normalised, kept, and found again."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cosykit.config.schema import Settings
from cosykit.engines.cosyvoice.voices import Voices, open_voices_alone
from cosykit.errors import InputError, ModelLoadError, NotFoundError
from cosykit.hub.bundle import read_bundle, remove_bundle
from cosykit.hub.voice_file import read_voice, write_voice
from cosykit.seams import VoiceKeeper
from cosykit.synthesis.voice.store import VoiceStore
from cosykit.types import Recording, SpeechRequest
from tests.synthesis.voice.signals import silence, speech

MODEL = "cosyvoice-300m"


@pytest.fixture
def settings(cosyvoice_models: Path, tmp_path: Path) -> Settings:
    shutil.copytree(cosyvoice_models / MODEL, tmp_path / MODEL)
    return Settings(model=MODEL, models_dir=tmp_path)


@pytest.fixture
def voices(settings: Settings) -> Voices:
    return open_voices_alone(MODEL, settings)


def store(settings: Settings) -> VoiceStore:
    bundle = read_bundle(settings.models_dir, MODEL)
    assert bundle
    return VoiceStore(bundle)


def recording(transcript: str = "") -> Recording:
    return Recording(speech(3), 16_000, transcript)


def test_transcript_is_normalised_as_texts_are(voices: Voices) -> None:
    measured = voices.measured(recording("今天 25 度"))
    assert measured.voice.transcript == "今天二十五度。"
    assert voices.measured(recording(" ")).voice.transcript == ""
    in_english = voices.measured(recording("25"), "en").voice.transcript
    assert in_english.lower() == "twenty-five."
    assert voices.measured(recording("25"), "zh").voice.transcript == "二十五。"


def test_same_samples_at_another_rate_are_another_recording(voices: Voices) -> None:
    samples = speech(3)
    slow, fast = (
        voices.measured(Recording(samples, rate)).voice for rate in (12_000, 16_000)
    )
    assert slow.tokens.size > fast.tokens.size


def test_saved_voice_is_as_it_was_measured(voices: Voices, settings: Settings) -> None:
    assert isinstance(voices, VoiceKeeper)
    assert voices.add_voice("Anna", recording("你好，世界")) == ()
    measured = voices.measured(recording("你好，世界")).voice
    found = open_voices_alone(MODEL, settings).find("anna", "zh")
    assert found.transcript == measured.transcript == "你好，世界。"
    np.testing.assert_array_equal(found.speaker, measured.speaker)
    np.testing.assert_array_equal(found.tokens, measured.tokens)
    np.testing.assert_array_equal(found.mel, measured.mel)


def test_own_language_of_a_voice_comes_first(voices: Voices) -> None:
    voices.add_voice("a", recording("Hello world."))
    voices.add_voice("b", recording("Hello world."), ("ko",))
    voices.add_voice("c", recording())
    first = {voice.id: voice.languages[0] for voice in voices.list()}
    assert first == {"a": "en", "b": "ko", "c": "zh"}
    assert all(len(voice.languages) == 5 for voice in voices.list())


def test_what_another_process_does_is_seen(voices: Voices, settings: Settings) -> None:
    assert voices.list() == []
    with pytest.raises(NotFoundError, match="no voice of its own"):
        voices.find(None, "zh")
    voices.add_voice("Anna", recording())
    other = store(settings)
    anna = other.read("Anna")
    other.export("Anna", settings.models_dir / "anna.npz")
    other.take(settings.models_dir / "anna.npz", "Berta")
    assert [voice.id for voice in voices.list()] == ["Anna", "Berta"]
    other.remove("Anna")
    assert [voice.id for voice in voices.list()] == ["Berta"]
    np.testing.assert_array_equal(voices.find(None, "zh").speaker, anna.speaker)


def test_model_that_another_process_removes_is_not_taken_for_one_without_voices(
    voices: Voices, settings: Settings
) -> None:
    voices.add_voice("anna", recording("你好"))
    remove_bundle(settings.models_dir, MODEL)
    with pytest.raises(ModelLoadError, match=f"{MODEL} was removed"):
        voices.find("anna", "zh")


def test_built_in_voice_stays_the_one_of_the_graphs_that_were_opened(
    cosyvoice_models: Path, tmp_path: Path
) -> None:
    trained = "cosyvoice-300m-sft"
    shutil.copytree(cosyvoice_models / trained, tmp_path / trained)
    bundle = read_bundle(tmp_path, trained)
    assert bundle
    voices = open_voices_alone(trained, Settings(model=trained, models_dir=tmp_path))
    before = voices.find("zh_female", "zh").speaker
    # As converting it anew does.
    path = bundle.voices_folder / "zh_female.npz"
    other = read_voice(path)
    write_voice(path, replace(other, speaker=other.speaker + 1))
    np.testing.assert_array_equal(voices.find("zh_female", "zh").speaker, before)


def test_voices_are_read_again_only_when_one_has_changed(voices: Voices) -> None:
    voices.add_voice("Anna", recording(), ("zh",))
    listed = voices.list()
    assert voices.list() is listed
    voices.add_voice("Anna", recording(), ("en",), replaces=True)
    assert voices.list()[0].languages[0] == "en"


def test_broken_file_is_in_nobodys_way(
    voices: Voices, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    voices.add_voice("Anna", recording())
    (settings.models_dir / MODEL / "voices" / "bad.npz").write_bytes(b"x")
    assert [voice.id for voice in voices.list()] == ["Anna"]
    assert "bad.npz is no voice" in caplog.text


def test_name_is_checked_before_the_recording_is_measured(
    voices: Voices, settings: Settings
) -> None:
    for name in ("campplus", "speech_tokenizer"):
        (settings.models_dir / MODEL / "frontend" / f"{name}.onnx").unlink()
    with pytest.raises(InputError, match="cannot be the name"):
        voices.add_voice("a/b", recording())


def test_recordings_of_a_request_are_measured_ahead(
    voices: Voices, settings: Settings
) -> None:
    brief = Recording(speech(2), 16_000)
    request = SpeechRequest("", prompt=brief, source=recording())
    assert voices.listen(request) == ("The recording is short, 3 to 10 s clone better",)
    measured, tokens = voices.measured(brief), voices.tokens_of(recording())
    assert voices.measured(brief) is measured
    assert voices.tokens_of(recording()) is tokens


@pytest.mark.parametrize(
    ("source", "word"),
    [
        (silence(1), "silent"),
        (silence(0), "empty"),
        (speech(0.05), "too short"),
    ],
)
def test_source_without_speech_is_refused(
    voices: Voices, source: np.ndarray[tuple[int], np.dtype[np.float32]], word: str
) -> None:
    with pytest.raises(InputError, match=word):
        voices.tokens_of(Recording(source, 16_000))
