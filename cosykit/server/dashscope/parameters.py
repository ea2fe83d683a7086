"""How to speak, as DashScope says it: its fields, ranges and defaults."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, model_validator

from cosykit.audio.formats import FORMATS, SAMPLE_RATES, AudioFormat, rate_for
from cosykit.errors import InputError, quoted
from cosykit.server.admission import Client
from cosykit.server.operations import STRICT, Name
from cosykit.server.speech import Output
from cosykit.types import (
    LANGUAGES,
    PITCH_RANGE,
    Language,
    SpeechRequest,
    language_of_tag,
)

# Rates a second of audio that does not say, as of the hosted service.
_USUAL_RATE = 22_050
_NEUTRAL_VOLUME = 50
_RATE_RANGE = (0.5, 2.0)

Word = Annotated[str, Field(min_length=1, max_length=64)]
Reading = Annotated[str, Field(min_length=1, max_length=256)]
Readings = Annotated[list[dict[Word, Reading]], Field(max_length=200)]


class HotFix(BaseModel):
    """Words that are to be read, or written, otherwise."""

    model_config = STRICT

    pronunciation: Readings = Field(
        default=[], description="Pinyin with tones, such as cao3 di4, of words"
    )
    replace: Readings = Field(default=[], description="What to say instead of words")

    @property
    def pronunciations(self) -> dict[str, str]:
        """What to say for each word; what is said instead of it comes first."""
        return {
            word: reading
            for entry in (*self.pronunciation, *self.replace)
            for word, reading in entry.items()
        }


class Parameters(BaseModel):
    """How to speak."""

    model_config = STRICT

    voice: Name | None = Field(
        default=None,
        description="Voice id, name or alias, or one that Alibaba hosts, which ours of "
        "its gender stands in for",
    )
    format: Literal["mp3", "wav", "pcm", "opus", "Default"] = "mp3"
    sample_rate: int = Field(
        default=0,
        description="Samples a second; 0 is 22050. Opus takes the next one it has",
        json_schema_extra={"enum": [0, *SAMPLE_RATES]},
    )
    volume: int = Field(default=_NEUTRAL_VOLUME, ge=0, le=100)
    rate: float = Field(default=1.0, ge=_RATE_RANGE[0], le=_RATE_RANGE[1])
    pitch: float = Field(default=1.0, ge=PITCH_RANGE[0], le=PITCH_RANGE[1])
    seed: int = Field(default=0, ge=0, le=65_535)
    instruction: str | None = Field(default=None, max_length=1024)
    language_hints: list[str] = Field(
        default=[], max_length=16, description="The first one is the main language"
    )
    hot_fix: HotFix = HotFix()
    bit_rate: int | None = Field(
        default=None,
        ge=6,
        le=510,
        description="Kilobits a second of opus; the others have their own",
    )
    enable_ssml: bool = Field(
        default=False, description="Plain text is spoken; SSML is refused"
    )
    word_timestamp_enabled: bool = Field(
        default=False,
        description="No engine knows when words are heard; none are listed",
    )
    enable_markdown_filter: bool = Field(
        default=False, description="Markup is never read out"
    )
    enable_aigc_tag: Literal[False] = False
    text_type: Literal["PlainText"] = "PlainText"
    type: int = Field(default=0, description="No meaning is known")

    @model_validator(mode="after")
    def _check_rate(self) -> "Parameters":
        if self.sample_rate not in (0, *SAMPLE_RATES):
            known = ", ".join(map(str, SAMPLE_RATES))
            raise ValueError(f"sample_rate must be one of {known}")
        return self

    @property
    def output(self) -> Output:
        """How to encode."""
        audio_format: AudioFormat = "mp3" if self.format == "Default" else self.format
        sample_rate = rate_for(audio_format, self.sample_rate or _USUAL_RATE)
        bit_rate = None if self.bit_rate is None else 1000 * self.bit_rate
        return Output(audio_format, sample_rate, bit_rate)

    def manner(self, client: Client) -> SpeechRequest:
        """Say how to speak, and for whom; the text comes later.

        Raises:
            InputError: The language is none of ours, or there are too many readings.
        """
        return SpeechRequest(
            "",
            voice=self.voice,
            language=self._language(),
            speed=self.rate,
            pitch=self.pitch,
            volume=self.volume / _NEUTRAL_VOLUME,
            pronunciations=self.hot_fix.pronunciations,
            instructions=self.instruction,
            seed=self.seed,
            client=client.name,
            priority=client.priority,
        )

    def _language(self) -> Language | None:
        if not self.language_hints:
            return None
        hint = self.language_hints[0]
        language = language_of_tag(hint)
        if language:
            return language
        raise InputError(
            f"the language {quoted(hint)} cannot be spoken",
            hint=f"Choose one of {', '.join(LANGUAGES)}",
            param="language_hints",
        )


MEDIA_TYPES = tuple(FORMATS[name].media_type for name in ("mp3", "wav", "pcm", "opus"))
"""Of all that can be asked for."""
