"""The values that pass through the house: requests, audio, voices and sentences."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from cosykit.errors import InputError, quoted

Samples = NDArray[np.float32]
"""Mono audio in [-1, 1], shape (samples,)."""

Mel = NDArray[np.float32]
"""Log mel spectrogram, shape (mels, frames)."""

Language = Literal["zh", "en", "ja", "yue", "ko"]
"""ISO 639 code of a spoken language (`zh` is Mandarin, `yue` Cantonese)."""

LANGUAGES: tuple[Language, ...] = get_args(Language)

# In Hong Kong Chinese is Cantonese; elsewhere what speaks it is called Mandarin.
_OTHER_TAGS: Mapping[str, Language] = MappingProxyType(
    {"cmn": "zh", "zh-hk": "yue", "zh-mo": "yue", "zh-yue": "yue"}
)

Gender = Literal["female", "male"]

SPEED_RANGE = (0.25, 4.0)
PITCH_RANGE = (0.5, 2.0)
VOLUME_RANGE = (0.0, 4.0)
SEED_RANGE = (0, 2**32 - 1)
TOP_P_RANGE = (0.01, 1.0)
TOP_K_RANGE = (1, 4096)
WIN_SIZE_RANGE = (1, 1000)
TAU_R_RANGE = (0.0, 2.0)
MOST_PRONUNCIATIONS = 200
"""In one request."""


def language_of_tag(tag: str) -> Language | None:
    """Recognise a language by a tag of BCP 47, such as `zh-CN` or `en_US`."""
    lowered = tag.strip().lower().replace("_", "-")
    main = lowered.partition("-")[0]
    other = _OTHER_TAGS.get(lowered) or _OTHER_TAGS.get(main)
    return other or next((known for known in LANGUAGES if known == main), None)


def known_language(tag: str | None) -> Language | None:
    """Recognise a language by its tag, or refuse it; None is no language.

    Raises:
        InputError: No model speaks it.
    """
    if tag is None:
        return None
    language = language_of_tag(tag)
    if language is None:
        raise InputError(
            f"unknown language {quoted(tag)}",
            hint=f"Known: {', '.join(LANGUAGES)}",
            param="language",
        )
    return language


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise InputError(
            f"{name} {value:.12g} is out of range",
            hint=f"Choose {low:.12g} to {high:.12g}",
            param=name,
        )


@dataclass(frozen=True, slots=True)
class Recording:
    """Recorded speech, such as that of a voice to be cloned.

    Attributes:
        samples: Mono audio in [-1, 1], shape (samples,).
        sample_rate: Samples a second.
        transcript: What is said in it; empty if nobody knows.
    """

    samples: Samples
    sample_rate: int
    transcript: str = ""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next speech token is chosen, for engines that sample.

    Attributes:
        top_p: The nucleus is the fewest most probable tokens that together reach this.
        top_k: At most so many tokens are in it.
        win_size: How many past tokens count as of late.
        tau_r: A token that makes up this share of them is drawn again; above 1 none is.
    """

    top_p: float = 0.8
    top_k: int = 25
    win_size: int = 10
    tau_r: float = 0.1

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            InputError: A parameter is out of range.
        """
        for name, value, low, high in (
            ("top_p", self.top_p, *TOP_P_RANGE),
            ("top_k", self.top_k, *TOP_K_RANGE),
            ("win_size", self.win_size, *WIN_SIZE_RANGE),
            ("tau_r", self.tau_r, *TAU_R_RANGE),
        ):
            _check_range(name, value, low, high)


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """One text to speak, however it came in.

    Attributes:
        text: What to say, as the user wrote it.
        voice: Id, display name or alias of a voice; None takes the default voice of
            the text's language.
        language: Overrides the detected main language of the text.
        speed: Tempo, 0.25 to 4; 1 is the voice's own.
        pitch: What the voice's own pitch is multiplied by, 0.5 to 2.
        volume: Gain, 0 to 4; 1 leaves the level as it is.
        pronunciations: Readings of words, as `text.pronunciations` has them, which
            they come before; for front ends that know of readings.
        instructions: How to say it, for engines that follow instructions.
        prompt: A recording whose voice to speak with instead, for engines that clone.
        source: Recorded speech to say again in the voice, in place of a text, for
            engines that convert voices.
        seed: Makes sampling repeatable, for engines that sample; None draws one.
        sampling: How tokens are chosen, for engines that sample.
        whole: Whether the audio is wanted sentence by sentence, which takes less time
            in all, rather than as soon as some can be heard.
        client: Who asks; clients share an engine fairly, however much each asks for.
        priority: Requests of a higher one begin first.
        start_within_s: Most time until it begins, where its client waits no longer;
            None as configured.
        request_id: Names the request in logs and to `Engine.cancel`.
    """

    text: str
    voice: str | None = None
    language: Language | None = None
    speed: float = 1.0
    pitch: float = 1.0
    volume: float = 1.0
    pronunciations: Mapping[str, str] = field(default_factory=dict)
    instructions: str | None = None
    prompt: Recording | None = None
    source: Recording | None = None
    seed: int | None = None
    sampling: Sampling = Sampling()
    whole: bool = False
    client: str = ""
    priority: int = 0
    start_within_s: float | None = None
    request_id: str = field(default_factory=lambda: uuid4().hex)

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            InputError: A number is out of range, or there are too many readings.
        """
        _check_range("pitch", self.pitch, *PITCH_RANGE)
        # An engine speaks slower by as much as the pitch is higher, see `pipeline`.
        slowest, fastest = (limit * self.pitch for limit in SPEED_RANGE)
        slowest, fastest = max(slowest, SPEED_RANGE[0]), min(fastest, SPEED_RANGE[1])
        _check_range("speed", self.speed, slowest, fastest)
        _check_range("volume", self.volume, *VOLUME_RANGE)
        if len(self.pronunciations) > MOST_PRONUNCIATIONS:
            raise InputError(
                f"there are {len(self.pronunciations)} pronunciations",
                hint=f"Send at most {MOST_PRONUNCIATIONS} with a request",
                param="pronunciations",
            )
        if self.seed is not None:
            _check_range("seed", self.seed, *SEED_RANGE)


@dataclass(frozen=True, slots=True)
class AudioChunk:
    """A piece of speech, in order; pieces are simply joined.

    Attributes:
        samples: Mono audio in [-1, 1], shape (samples,).
        sample_rate: Samples a second.
        text: The part of the normalised text that is heard in this piece; empty for the
            last milliseconds of all, which belong to the piece before.
    """

    samples: Samples
    sample_rate: int
    text: str = ""

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.samples.size / self.sample_rate


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice that an engine can speak with.

    Attributes:
        id: Stable identifier, such as `zf_xiaoxiao`.
        name: Name to show to people.
        languages: Languages it speaks, its own first.
        aliases: Other names that find it, such as OpenAI's `alloy`.
    """

    id: str
    name: str
    languages: tuple[Language, ...]
    gender: Gender | None = None
    description: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of normalised text in one language.

    Attributes:
        text: Words and punctuation only; numbers, dates and symbols are written out.
        language: The language to read it in.
        reading: The user's own reading of this stretch: pinyin for Chinese (`zhong4
            qing4`), or IPA between slashes (`/kˈOzi/`). None for the usual reading.
    """

    text: str
    language: Language
    reading: str | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or a clause of an overlong one, ready to be spoken.

    Attributes:
        spans: The stretches in order; joined they are the whole sentence with its
            final punctuation and inner spaces.
        ends_paragraph: Whether a line break followed in the original text.
    """

    spans: tuple[Span, ...]
    ends_paragraph: bool = False

    @property
    def text(self) -> str:
        """The whole sentence."""
        return "".join(span.text for span in self.spans)
