"""The formats that speech can be written in, and the facts of each.

The names are OpenAI's `response_format` values. Two media types need a word:

- `opus` is `audio/ogg; codecs=opus`, because the bytes are an Ogg file: that is the
  type that RFC 7845 registers for them and that browsers play. `audio/opus` names bare
  RTP packets.
- `pcm` is `audio/pcm` with its rate, because the bytes do not say it. `audio/L16` would
  promise big-endian samples; ours are little-endian, as OpenAI's are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from cosykit.errors import InputError, quoted

AudioFormat = Literal["wav", "mp3", "opus", "aac", "flac", "pcm"]
"""Names a way to write audio; every one is mono, `wav`, `flac` and `pcm` 16-bit."""

AUDIO_FORMATS: tuple[AudioFormat, ...] = get_args(AudioFormat)

SAMPLE_RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)
"""Samples a second that speech is written at; `opus` can hold only some of them."""

_OPUS_RATES = (8000, 12000, 16000, 24000, 48000)


@dataclass(frozen=True, slots=True)
class FormatFacts:
    """What is always so of a format.

    Attributes:
        media_type: Value of a `Content-Type` header.
        suffixes: File name endings, the usual one first.
        sample_rates: Samples a second that it can hold, ascending.
    """

    media_type: str
    suffixes: tuple[str, ...]
    sample_rates: tuple[int, ...] = SAMPLE_RATES


FORMATS: Mapping[AudioFormat, FormatFacts] = MappingProxyType(
    {
        "wav": FormatFacts("audio/wav", (".wav", ".wave")),
        "mp3": FormatFacts("audio/mpeg", (".mp3",)),
        "opus": FormatFacts(
            "audio/ogg; codecs=opus", (".opus", ".ogg", ".oga"), _OPUS_RATES
        ),
        "aac": FormatFacts("audio/aac", (".aac",)),
        "flac": FormatFacts("audio/flac", (".flac",)),
        "pcm": FormatFacts("audio/pcm", (".pcm", ".raw")),
    }
)


def media_type(audio_format: AudioFormat, sample_rate: int) -> str:
    """Name the `Content-Type` of encoded audio."""
    media_type = FORMATS[audio_format].media_type
    return f"{media_type}; rate={sample_rate}" if audio_format == "pcm" else media_type


def format_of_suffix(path: str | Path) -> AudioFormat:
    """Tell the format from a file name's ending.

    Raises:
        InputError: The ending names no format that CosyKit writes.
    """
    suffix = Path(path).suffix.lower()
    for audio_format, facts in FORMATS.items():
        if suffix in facts.suffixes:
            return audio_format
    known = ", ".join(facts.suffixes[0] for facts in FORMATS.values())
    raise InputError(
        f"the name {quoted(Path(path).name)} does not end like an audio file",
        hint=f"End it with one of {known}, or name the format",
        param="format",
    )


def checked_rate(audio_format: AudioFormat, sample_rate: int) -> int:
    """Return a sample rate that the format can hold.

    Raises:
        InputError: The format cannot hold it.
    """
    allowed = FORMATS[audio_format].sample_rates
    if sample_rate not in allowed:
        raise InputError(
            f"{audio_format} cannot hold {sample_rate} samples a second",
            hint=f"Choose one of {', '.join(map(str, allowed))}",
            param="sample_rate",
        )
    return sample_rate


def rate_for(audio_format: AudioFormat, input_rate: int) -> int:
    """Choose the sample rate that keeps all of the input: its own or the next above."""
    allowed = FORMATS[audio_format].sample_rates
    return next((rate for rate in allowed if rate >= input_rate), allowed[-1])
