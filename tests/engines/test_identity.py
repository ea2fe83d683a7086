"""Two requests have one identity if they are spoken alike, and only then."""

import shutil
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from cosykit.config.schema import (
    EngineSettings,
    RuntimeSettings,
    Settings,
    TextSettings,
)
from cosykit.engines.identity import digest, heard_fields
from cosykit.engines.open import load
from cosykit.errors import InputError, NotFoundError
from cosykit.seams import Repeatable
from cosykit.types import Recording, Sampling, SpeechRequest

TEXT = "今天下午3点开会。"


def recording(transcript: str = "", pitch_hz: float = 220.0) -> Recording:
    """Two seconds of something that sounds."""
    seconds = np.arange(2 * 22_050) / 22_050
    tone = 0.4 * np.sin(2 * np.pi * pitch_hz * seconds) * (1 + np.sin(8 * seconds)) / 2
    return Recording(tone.astype(np.float32), 22_050, transcript)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((1,), ("1",)),
        ((b"1",), ("1",)),
        ((None,), ("None",)),
        ((0,), (False,)),
        (("ab", "c"), ("a", "bc")),
        ((("a", "b"), "c"), (("a",), "b", "c")),
        (((),), ()),
        (({"a": 1},), ((("a", 1),),)),
        ((np.zeros(4, np.float32),), (np.zeros(4, np.int32),)),
        ((np.zeros((2, 3)),), (np.zeros((3, 2)),)),
        ((Sampling(top_k=1),), (Sampling(top_k=2),)),
        ((recording(),), (recording("你好"),)),
    ],
)
def test_different_values_have_different_digests(
    first: tuple[object, ...], second: tuple[object, ...]
) -> None:
    assert digest(*first) != digest(*second)


def test_equal_values_have_one_digest() -> None:
    assert digest(recording("a"), {"speed": 1.0}) == digest(
        recording("a"), {"speed": 1}
    )


def test_what_has_no_digest_is_refused() -> None:
    with pytest.raises(TypeError, match="object"):
        digest("a", [object()])


def test_every_field_counts_but_who_asks_and_when() -> None:
    names = {field.name for field in fields(SpeechRequest)}
    unheard = {"client", "priority", "request_id", "start_within_s"}
    assert heard_fields(SpeechRequest("a"), without=()).keys() == names - unheard


@pytest.fixture(scope="module")
def lite(lite_models: Path) -> Iterator[Repeatable]:
    with load("lite", Settings(models_dir=lite_models)) as loaded:
        assert isinstance(loaded.engine, Repeatable)
        yield loaded.engine


CLONING = Settings(
    model="cosyvoice-300m-instruct",
    runtime=RuntimeSettings(provider="cpu", precision="fp32", threads=1),
)


@pytest.fixture(scope="module")
def cosyvoice(cosyvoice_models: Path) -> Iterator[Repeatable]:
    settings = CLONING.model_copy(update={"models_dir": cosyvoice_models})
    with load(None, settings) as loaded:
        assert isinstance(loaded.engine, Repeatable)
        yield loaded.engine


@pytest.mark.parametrize(
    "other",
    [
        SpeechRequest("今天下午三点开会。"),
        SpeechRequest(f"**{TEXT}**"),
        SpeechRequest(TEXT, voice="ZF_xiaoxiao"),
        SpeechRequest(TEXT, voice="晓晓", language="zh"),
        SpeechRequest(TEXT, seed=3, sampling=Sampling(top_k=3), whole=True),
        SpeechRequest(TEXT, client="somebody", priority=3),
    ],
)
def test_lite_speaks_these_alike(lite: Repeatable, other: SpeechRequest) -> None:
    assert lite.identity(other) == lite.identity(SpeechRequest(TEXT))


@pytest.mark.parametrize(
    "other",
    [
        SpeechRequest("今天下午四点开会。"),
        SpeechRequest(TEXT, voice="zm_yunxi"),
        SpeechRequest(TEXT, speed=1.1),
        SpeechRequest(TEXT, volume=1.1),
        SpeechRequest(TEXT, pitch=1.1),
        SpeechRequest(TEXT, pronunciations={"会": "kuai4"}),
        SpeechRequest(TEXT, language="ja"),
    ],
)
def test_lite_speaks_these_otherwise(lite: Repeatable, other: SpeechRequest) -> None:
    assert lite.identity(other) != lite.identity(SpeechRequest(TEXT))


def test_identity_of_what_cannot_be_spoken_says_so(
    lite: Repeatable, cosyvoice: Repeatable
) -> None:
    for engine in (lite, cosyvoice):
        with pytest.raises(InputError):
            engine.identity(SpeechRequest("！"))
        with pytest.raises(NotFoundError):
            engine.identity(SpeechRequest(TEXT, voice="nobody"))


def test_readings_of_the_configuration_count(
    lite: Repeatable, lite_models: Path
) -> None:
    text = TextSettings(pronunciations={"会": "kuai4"})
    settings = Settings(models_dir=lite_models, text=text)
    with load("lite", settings) as other:
        assert isinstance(other.engine, Repeatable)
        request = SpeechRequest(TEXT)
        assert other.engine.identity(request) != lite.identity(request)


@pytest.mark.parametrize(
    "other",
    [
        SpeechRequest("今天下午三点开会。", voice="中文女"),
        SpeechRequest(TEXT, voice="中文女", client="somebody", language="zh"),
    ],
)
def test_cosyvoice_speaks_these_alike(
    cosyvoice: Repeatable, other: SpeechRequest
) -> None:
    request = SpeechRequest(TEXT, voice="中文女")
    assert cosyvoice.identity(other) == cosyvoice.identity(request)


@pytest.mark.parametrize(
    "other",
    [
        SpeechRequest(TEXT, voice="中文男"),
        SpeechRequest("今天下午四点开会。", voice="中文女"),
        SpeechRequest(TEXT, voice="中文女", seed=1),
        SpeechRequest(TEXT, voice="中文女", sampling=Sampling(top_k=3)),
        SpeechRequest(TEXT, voice="中文女", instructions="慢慢说"),
        SpeechRequest(TEXT, voice="中文女", speed=1.1),
        SpeechRequest(TEXT, voice="中文女", whole=True),
        SpeechRequest(TEXT, voice="中文女", prompt=recording()),
        SpeechRequest("", voice="中文女", source=recording()),
    ],
)
def test_cosyvoice_speaks_these_otherwise(
    cosyvoice: Repeatable, other: SpeechRequest
) -> None:
    request = SpeechRequest(TEXT, voice="中文女")
    assert cosyvoice.identity(other) != cosyvoice.identity(request)


def test_recordings_count_by_what_is_heard_and_said(cosyvoice: Repeatable) -> None:
    prompts = (
        recording(),
        recording("今天天气很好。"),
        recording(pitch_hz=330),
        replace(recording(), sample_rate=24_000),
    )
    identities = [
        cosyvoice.identity(SpeechRequest(TEXT, prompt=prompt)) for prompt in prompts
    ]
    assert len({*identities}) == len(prompts)
    again = SpeechRequest(TEXT, voice="中文女", prompt=recording())
    assert cosyvoice.identity(again) == identities[0]


def test_language_counts_where_the_recording_does_not_say_it(
    cosyvoice: Repeatable,
) -> None:
    alone, with_words = (
        [
            cosyvoice.identity(
                SpeechRequest("明天。", prompt=prompt, language=language)
            )
            for language in ("zh", "yue")
        ]
        for prompt in (recording(), recording("今天天气很好。"))
    )
    assert alone[0] != alone[1]
    assert with_words[0] == with_words[1]


def test_voice_added_anew_under_its_name_is_another(
    cosyvoice_models: Path, tmp_path: Path
) -> None:
    model = tmp_path / CLONING.model
    shutil.copytree(cosyvoice_models / CLONING.model, model)
    with load(None, CLONING.model_copy(update={"models_dir": tmp_path})) as loaded:
        engine = loaded.engine
        assert isinstance(engine, Repeatable)
        identities = []
        for pitch_hz in (220, 330, 220):
            loaded.add_voice("mine", recording(pitch_hz=pitch_hz), replaces=True)
            identities.append(engine.identity(SpeechRequest(TEXT, voice="mine")))
        assert identities[0] == identities[2] != identities[1]


def test_what_speaks_counts(cosyvoice: Repeatable, cosyvoice_models: Path) -> None:
    settings = CLONING.model_copy(
        update={
            "models_dir": cosyvoice_models,
            "engine": EngineSettings(schedule="upstream"),
        }
    )
    with load(None, settings) as other:
        assert isinstance(other.engine, Repeatable)
        request = SpeechRequest(TEXT, voice="中文女")
        assert other.engine.identity(request) != cosyvoice.identity(request)
