"""DashScope's fields become a manner of speaking and a way to encode."""

import pytest
from pydantic import ValidationError

from cosykit.audio.formats import FORMATS
from cosykit.errors import InputError
from cosykit.server.admission import Client
from cosykit.server.dashscope.characters import count_characters
from cosykit.server.dashscope.models import own_model
from cosykit.server.dashscope.parameters import Parameters
from cosykit.server.speech import Output

CLIENT = Client("anna", priority=3)


def test_defaults_are_those_of_the_hosted_service() -> None:
    manner = Parameters().manner(CLIENT)
    assert (manner.speed, manner.pitch, manner.volume, manner.seed) == (1, 1, 1, 0)
    assert (manner.voice, manner.language, manner.instructions) == (None, None, None)
    assert (manner.client, manner.priority) == ("anna", 3)
    assert Parameters().output == Output("mp3", 22_050)


@pytest.mark.parametrize(
    ("fields", "output"),
    [
        ({"format": "Default", "sample_rate": 0}, Output("mp3", 22_050)),
        ({"format": "wav"}, Output("wav", 22_050)),
        ({"format": "pcm", "sample_rate": 8_000}, Output("pcm", 8_000)),
        ({"format": "opus", "sample_rate": 8_000}, Output("opus", 8_000)),
        ({"format": "opus"}, Output("opus", 24_000)),
        ({"format": "opus", "bit_rate": 16}, Output("opus", 24_000, 16_000)),
        ({"format": "opus", "sample_rate": 44_100}, Output("opus", 48_000)),
    ],
)
def test_rate_is_one_that_the_format_can_hold(
    fields: dict[str, object], output: Output
) -> None:
    assert Parameters.model_validate(fields).output == output
    assert output.sample_rate in FORMATS[output.audio_format].sample_rates


def test_hot_fix_says_how_words_are_read_and_written() -> None:
    hot_fix = {
        "pronunciation": [{"草地": "cao3 di4"}, {"重庆": "chong2 qing4"}],
        "replace": [{"草地": "草弟"}, {"SQL": "sequel"}],
    }
    manner = Parameters.model_validate({"hot_fix": hot_fix}).manner(CLIENT)
    assert manner.pronunciations == {
        "草地": "草弟",
        "重庆": "chong2 qing4",
        "SQL": "sequel",
    }


def test_first_hint_is_the_language() -> None:
    asked = Parameters(language_hints=["ja", "fr"])
    assert asked.manner(CLIENT).language == "ja"
    assert Parameters(language_hints=["zh-CN"]).manner(CLIENT).language == "zh"
    with pytest.raises(InputError, match="'fr' cannot be spoken"):
        Parameters(language_hints=["fr"]).manner(CLIENT)


@pytest.mark.parametrize(
    "fields",
    [
        {"rate": 0.4},
        {"rate": float("nan")},
        {"pitch": 2.1},
        {"volume": 50.5},
        {"volume": True},
        {"seed": -1},
        {"sample_rate": 1},
        {"format": "flac"},
        {"text_type": "SSML"},
        {"hot_fix": {"replace": [{"a": 1}]}},
        {"bit_rate": 5},
    ],
)
def test_field_out_of_range_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Parameters.model_validate(fields)


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("你好", 4),
        ("中A文123", 8),
        ("中文。", 5),
        ("中 文。", 6),
        ("こんにちは", 5),
        ("안녕", 2),
        ("𠮷", 2),
        ("😀", 1),
        ("", 0),
    ],
)
def test_hanzi_count_two(text: str, characters: int) -> None:
    assert count_characters(text) == characters


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("cosyvoice-v1", "auto"),
        ("cosyvoice-v3-flash", "auto"),
        ("cosyvoice-v3.5-plus", "auto"),
        ("cosyvoice-300m-sft", "cosyvoice-300m-sft"),
        ("lite", "lite"),
    ],
)
def test_hosted_model_is_the_configured_one(name: str, own: str) -> None:
    assert own_model(name) == own
