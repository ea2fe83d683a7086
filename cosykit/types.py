"""The values that pass through the house and the protocols of its seams."""

from collections.abc import Collection, Iterator, Mapping, Sequence
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
PITCH_RANGE = (0.5, 2.0)
VOLUME_RANGE = (0.0, 4.0)
SEED_RANGE = (0, 2**32 - 1)
TOP_P_RANGE = (0.01, 1.0)
TOP_K_RANGE = (1, 4096)
MOST_PRONUNCIATIONS = 200
"""In one request."""


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
        window: How many past tokens count as of late.
        tolerance: The share of the window that a token may fill without being drawn
            again; above 1 every token may.
    """

    top_p: float = 0.8
    top_k: int = 25
    window: int = 10
    tolerance: float = 0.1

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            InputError: A parameter is out of range.
        """
        for name, value, low, high in (
            ("top_p", self.top_p, *TOP_P_RANGE),
            ("top_k", self.top_k, *TOP_K_RANGE),
            ("window", self.window, 1, 1000),
            ("tolerance", self.tolerance, 0.0, 2.0),
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
    """What an engine can do beyond speaking a text with a built-in voice.

    Attributes:
        cloning: Speak with the voice of a recording.
        conversion: Say recorded speech again in another voice.
        instructions: Follow instructions.
        parallel: Speak several requests at once, each in a thread of its own.
    """

    streaming: bool = True
    cloning: bool = False
    conversion: bool = False
    instructions: bool = False
    text_streaming: bool = False
    timestamps: bool = False
    parallel: bool = False


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

    One thread at a time speaks with it, or several if its capabilities say so. Any
    thread may call `cancel`, and read what the engine is and has.
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
class Progress:
    """What a step brought for one request.

    Attributes:
        outcome: A piece of its audio; or why it failed; or None, when it has ended.
    """

    request_id: str
    outcome: AudioChunk | BaseException | None


@runtime_checkable
class BatchEngine(Protocol):
    """Speaks several requests at once, a step of all of them at a time.

    An `Engine` may be one too. One thread calls `begin` and `step`.
    """

    def begin(self, request: SpeechRequest) -> None:
        """Take a request in; it has a part in the next step.

        Raises:
            InputError: It cannot be spoken.
            BusyError: There is no room for it now.
        """

    def step(self, resting: Collection[str] = ()) -> Sequence[Progress]:
        """Work on all requests for a moment.

        Args:
            resting: Requests whose listeners have enough audio for now.
        """

    def cancel(self, request_id: str) -> None:
        """End a request, from any thread; no progress is reported of it any more."""


@runtime_checkable
class VoiceKeeper(Protocol):
    """Measures recordings and keeps voices made of them.

    An `Engine` may be one too. Any thread may call any of this at any time.
    """

    def listen(self, request: SpeechRequest) -> Sequence[str]:
        """Measure the recordings of a request ahead, which may take seconds.

        Speaking it does not have to any more. Afterwards the request is worth as much
        as before: nothing else of it is checked.

        Returns:
            What could be better about the recorded voice, in sentences without a full
            stop.

        Raises:
            InputError: A recording is of no use.
        """

    def add_voice(
        self,
        name: str,
        recording: Recording,
        languages: tuple[Language, ...] = (),
        *,
        replaces: bool = False,
    ) -> Sequence[str]:
        """Save the voice of a recording; any later request may name it.

        Args:
            languages: What it is known to speak, its own first.
            replaces: Whether to put it in the place of an added one of that name.

        Returns:
            As of `listen`.

        Raises:
            InputError: The recording is of no use, or the name is taken or no name.
            ResourceError: It cannot be written.
        """

    def remove_voice(self, name: str) -> None:
        """Delete an added voice.

        Raises:
            NotFoundError: There is none of that name.
            InputError: It came with the model.
            ResourceError: It cannot be deleted.
        """


@runtime_checkable
class Repeatable(Protocol):
    """Knows when two requests would be spoken alike, so that one answers both.

    An `Engine` may be one too. Any thread may call it at any time.
    """

    def identity(self, request: SpeechRequest) -> bytes:
        """Digest all that shapes the audio of a request: model, voice, text and so on.

        Two requests without a seed, of an engine that samples, are alike too.

        Raises:
            InputError: The text cannot be spoken.
            NotFoundError: The voice does not exist.
        """


@runtime_checkable
class Counting(Protocol):
    """Counts what went wrong without failing a request; an `Engine` may be one too."""

    @property
    def runaways(self) -> int:
        """How often speech did not end by itself, and was begun anew or cut."""


Mel = NDArray[np.float32]
"""Log mel spectrogram, shape (mels, frames)."""


class VocoderStream(Protocol):
    """Turns the mel of one utterance into samples, chunk by chunk."""

    def process(self, mel: Mel, *, last: bool) -> Samples:
        """Take the next frames and give the samples that are ready.

        Args:
            last: Whether the utterance ends with these frames; then all the rest of
                its samples is given.
        """


@runtime_checkable
class Vocoder(Protocol):
    """Turns mels into samples; the seam of the `cosykit.vocoders` plug-ins."""

    @property
    def sample_rate(self) -> int:
        """Samples a second."""

    def begin(self, seed: Sequence[int]) -> VocoderStream:
        """Begin an utterance; the same seed and mel give the same samples."""

    def close(self) -> None:
        """Free sessions and memory."""


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
    """Normalises and splits text; the seam of the `cosykit.text_frontends` plug-ins.

    Any number of threads may call it at once.
    """

    def sentences(self, text: str, language: Language | None) -> Sequence[Sentence]:
        """Turn raw text into sentences that lose and repeat nothing.

        Args:
            text: As the user wrote it: Markdown, emoji, digits and all.
            language: The main language; None detects it.

        Raises:
            InputError: Nothing in the text can be spoken.
        """


@runtime_checkable
class PronouncingFrontend(TextFrontend, Protocol):
    """Reads words of a request as the request says."""

    def with_pronunciations(self, readings: Mapping[str, str]) -> TextFrontend:
        """Give a front end that knows more readings, which come before its own.

        Raises:
            InputError: One of them cannot be used.
        """
