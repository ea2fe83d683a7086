from pathlib import Path

import pytest

from cosykit.audio.formats import (
    AUDIO_FORMATS,
    FORMATS,
    AudioFormat,
    checked_rate,
    format_of_suffix,
    media_type,
    rate_for,
)
from cosykit.errors import InputError


@pytest.mark.parametrize("audio_format", AUDIO_FORMATS)
def test_each_suffix_names_its_format(audio_format: AudioFormat) -> None:
    for suffix in FORMATS[audio_format].suffixes:
        assert format_of_suffix(f"folder.x/你好{suffix}") == audio_format
        assert format_of_suffix(Path(f"A{suffix.upper()}")) == audio_format


@pytest.mark.parametrize("name", ["speech", "speech.txt", ".wav", "wav", "a.wav.bak"])
def test_unknown_suffix_is_an_error_that_lists_the_known_ones(name: str) -> None:
    with pytest.raises(InputError) as caught:
        format_of_suffix(name)
    assert name in caught.value.message
    for audio_format in AUDIO_FORMATS:
        assert f".{audio_format}" in caught.value.hint


def test_media_types_are_those_that_clients_expect() -> None:
    assert [media_type(name, 24_000) for name in AUDIO_FORMATS] == [
        "audio/wav",
        "audio/mpeg",
        "audio/ogg; codecs=opus",
        "audio/aac",
        "audio/flac",
        "audio/pcm; rate=24000",
    ]


def test_a_rate_that_the_format_cannot_hold_is_refused() -> None:
    assert checked_rate("wav", 44_100) == 44_100
    with pytest.raises(InputError, match="opus cannot hold 44100") as caught:
        checked_rate("opus", 44_100)
    assert "48000" in caught.value.hint
    assert caught.value.param == "sample_rate"


@pytest.mark.parametrize(
    ("audio_format", "input_rate", "chosen"),
    [
        ("mp3", 24_000, 24_000),
        ("opus", 24_000, 24_000),
        ("opus", 22_050, 24_000),
        ("opus", 44_100, 48_000),
        ("wav", 96_000, 48_000),
    ],
)
def test_the_rate_keeps_all_of_the_input(
    audio_format: AudioFormat, input_rate: int, chosen: int
) -> None:
    assert rate_for(audio_format, input_rate) == chosen
