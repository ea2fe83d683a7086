"""The Python interface clones, converts, instructs and keeps voices."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cosykit.audio.file import write_audio
from cosykit.config.schema import Settings
from cosykit.engines.open import load
from cosykit.engines.synthesizer import Synthesizer
from cosykit.errors import InputError, NotFoundError
from cosykit.types import AudioChunk, Recording, Sampling
from tests.synthesis.counting_engine import CountingEngine
from tests.synthesis.voice.signals import speech

MODEL = "cosyvoice-300m-instruct"
TEXT = "你好。"
TRANSCRIPT = "今天天气很好"


@pytest.fixture(scope="module")
def tts(
    cosyvoice_models: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Synthesizer]:
    folder = tmp_path_factory.mktemp("models")
    shutil.copytree(cosyvoice_models / MODEL, folder / MODEL)
    with load(MODEL, Settings(models_dir=folder)) as synthesizer:
        yield synthesizer


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    path = tmp_path / "reference.wav"
    write_audio(path, "wav", [AudioChunk(speech(3), 16_000)])
    return path


def test_recording_may_be_a_path_bytes_or_samples(
    tts: Synthesizer, reference: Path
) -> None:
    content = reference.read_bytes()
    spoken = {
        tts.synthesize(
            TEXT, prompt_audio=prompt, prompt_text=TRANSCRIPT, seed=1
        ).samples.tobytes()
        for prompt in (reference, str(reference), content)
    }
    assert len(spoken) == 1
    recording = Recording(speech(3), 16_000, TRANSCRIPT)
    assert tts.synthesize(TEXT, prompt_audio=recording, seed=1).duration_s > 0


def test_language_goes_by_its_tag(tts: Synthesizer) -> None:
    tagged, plain = (
        tts.synthesize("你好", language=tag, seed=1) for tag in ("zh-HK", "yue")
    )
    assert np.array_equal(tagged.samples, plain.samples)
    with pytest.raises(InputError, match="unknown language 'fr'"):
        tts.synthesize("Bonjour", language="fr")
    with pytest.raises(InputError, match="unknown language 'fr'"):
        tts.stream("Bonjour", language="fr")


def test_every_parameter_changes_the_speech(tts: Synthesizer, reference: Path) -> None:
    spoken = [
        tts.synthesize(TEXT, seed=1),
        tts.synthesize(TEXT, seed=2),
        tts.synthesize(TEXT, seed=1, voice="zh_male"),
        tts.synthesize(TEXT, seed=1, sampling=Sampling(top_k=1)),
        tts.synthesize(TEXT, seed=1, prompt_audio=reference),
        tts.synthesize(TEXT, seed=1, instructions="Speak merrily"),
    ]
    assert len({audio.samples.tobytes() for audio in spoken}) == len(spoken)


@pytest.mark.parametrize("text", [TEXT, "<|zh|>你好。"])
def test_spaces_around_a_text_are_not_heard(tts: Synthesizer, text: str) -> None:
    plain, spaced = (
        tts.synthesize(each, seed=1).samples for each in (text, f" \n{text}\n ")
    )
    np.testing.assert_array_equal(plain, spaced)


def test_stream_says_the_same(tts: Synthesizer, reference: Path) -> None:
    chunks = list(tts.stream(TEXT, seed=1, prompt_audio=reference))
    streamed = np.concatenate([chunk.samples for chunk in chunks])
    whole = tts.synthesize(TEXT, seed=1, prompt_audio=reference).samples
    assert streamed.size == whole.size


def test_speech_is_said_again(tts: Synthesizer, reference: Path) -> None:
    source = Recording(speech(12), 16_000)
    own, other = tts.convert(source, seed=1), tts.convert(source, voice="ja_male")
    cloned = tts.convert(source, prompt_audio=reference, seed=1)
    assert own.duration_s == pytest.approx(12, abs=0.1)
    assert own.samples.size == other.samples.size == cloned.samples.size
    assert not np.array_equal(own.samples, cloned.samples)


def test_voice_is_kept(tts: Synthesizer, reference: Path) -> None:
    assert tts.add_voice("Anna", reference, text=TRANSCRIPT) == ()
    with pytest.raises(InputError, match="a voice Anna already"):
        tts.add_voice("Anna", reference, text=TRANSCRIPT)
    tts.add_voice("Anna", reference, text=TRANSCRIPT, language="zh", replaces=True)
    kept = tts.synthesize(TEXT, voice="Anna", seed=1)
    given = tts.synthesize(TEXT, prompt_audio=reference, prompt_text=TRANSCRIPT, seed=1)
    np.testing.assert_array_equal(kept.samples, given.samples)
    tts.remove_voice("Anna")
    with pytest.raises(NotFoundError, match="Anna"):
        tts.remove_voice("Anna")


def test_transcript_without_a_recording_is_refused(tts: Synthesizer) -> None:
    with pytest.raises(InputError, match="no recording"):
        tts.synthesize(TEXT, prompt_text=TRANSCRIPT)


def test_engine_that_cannot_says_which_can(reference: Path) -> None:
    tts = Synthesizer(CountingEngine())
    with pytest.raises(InputError, match="counting does not clone voices"):
        tts.synthesize("one", prompt_audio=reference)
    with pytest.raises(InputError, match="does not convert voices"):
        tts.convert(reference)
    with pytest.raises(InputError, match="does not clone voices"):
        tts.add_voice("Anna", reference)
    with pytest.raises(InputError, match="does not follow instructions") as caught:
        tts.synthesize("one", instructions="Speak merrily")
    assert "cosykit install cosyvoice-300m-instruct" in caught.value.hint
