"""The values that pass through the house and the protocols of its seams."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from cosykit.errors import InputError

Samples = NDArray[np.float32]
"""Mono audio in [-1, 1], shape (samples,)."""

Language = Literal["zh", "en", "ja", "yue", "ko"]
"""ISO 639 code of a spoken language (`zh` is Mandarin, `yue` Cantonese)."""

Gender = Literal["female", "male"]

SPEED_RANGE = (0.25, 4.0)
VOLUME_RANGE = (0.0, 4.0)


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """One text to speak, however it came in.

    Attributes:
        text: What to say, as the user wrote it.
        voice: Id, display name or alias of a voice; None takes the default voice of
            the text's language.
        language: Overrides the detected main language of the text.
        speed: Tempo, 0.25 to 4; 1 is the voice's own.
        volume: Gain, 0 to 4; 1 leaves the level as it is.
        instructions: How to say it, for engines that follow instructions.
        seed: Makes sampling repeatable, for engines that sample.
        request_id: Names the request in logs and to `Engine.cancel`.
    """

    text: str
    voice: str | None = None
    language: Language | None = None
    speed: float = 1.0
    volume: float = 1.0
    instructions: str | None = None
    seed: int | None = None
    request_id: str = field(default_factory=lambda: uuid4().hex)

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            InputError: Speed or volume is out of range.
        """
        for name, value, low, high in (
            ("speed", self.speed, *SPEED_RANGE),
            ("volume", self.volume, *VOLUME_RANGE),
        ):
            if not low <= value <= high:
                raise InputError(
                    f"{name} {value:g} is out of range",
                    hint=f"Choose {low:g} to {high:g}",
                    param=name,
                )


@dataclass(frozen=True, slots=True)
class AudioChunk:
    """A piece of speech, in order; pieces are simply joined.

    Attributes:
        samples: Mono audio in [-1, 1], shape (samples,).
        sample_rate: Samples a second.
        text: The part of the normalised text that is heard in this piece.
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
class Capabilities:
    """What an engine can do beyond speaking a text with a built-in voice."""

    streaming: bool = True
    cloning: bool = False
    instructions: bool = False
    text_streaming: bool = False
    timestamps: bool = False


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """How an engine really runs, as `/health` and `doctor` report it.

    Attributes:
        model: Model id, such as `lite`.
        provider: ONNX Runtime provider that the sessions really use, such as `cpu`.
        precision: Quantization level in use, such as `int8`.
        threads: Threads of one run.
        note: Why this provider or precision was chosen.
    """

    model: str
    provider: str
    precision: str
    threads: int
    note: str = ""


@runtime_checkable
class Engine(Protocol):
    """Turns requests into audio; the seam of the `cosykit.engines` plug-ins.

    One thread at a time speaks with it. Any thread may call `cancel`, and read what the
    engine is and has.
    """

    @property
    def info(self) -> EngineInfo:
        """How the engine runs."""

    @property
    def sample_rate(self) -> int:
        """Samples a second of every chunk."""

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do."""

    def voices(self) -> Sequence[Voice]:
        """List the voices; the first one that speaks a language is its default."""

    def synthesize(self, request: SpeechRequest) -> Iterator[AudioChunk]:
        """Speak a request piece by piece.

        All input is checked before the first chunk. Closing the iterator ends the
        work.

        Raises:
            InputError: The request cannot be spoken.
            NotFoundError: The voice does not exist.
        """

    def cancel(self, request_id: str) -> None:
        """End a request as soon as possible, in the middle of a run too."""

    def close(self) -> None:
        """Free sessions and memory; the engine cannot be used afterwards."""


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


@runtime_checkable
class TextFrontend(Protocol):
    """Normalises and splits text; the seam of the `cosykit.text_frontends` plug-ins."""

    def sentences(self, text: str, language: Language | None) -> Sequence[Sentence]:
        """Turn raw text into sentences that lose and repeat nothing.

        Args:
            text: As the user wrote it: Markdown, emoji, digits and all.
            language: The main language; None detects it.

        Raises:
            InputError: Nothing in the text can be spoken.
        """
