"""The protocols of the seams: what an engine, a front end and a vocoder have to do.

Plug-ins come in at three of them: `Engine`, `TextFrontend` and `Vocoder`. What some
engines and front ends do besides has protocols of its own, and who needs it asks with
`isinstance` whether it is there.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from cosykit.types import (
    AudioChunk,
    Language,
    Mel,
    Recording,
    Samples,
    Sentence,
    SpeechRequest,
    Voice,
)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do beyond speaking a text with a built-in voice.

    Attributes:
        cloning: Speak with the voice of a recording.
        conversion: Say recorded speech again in another voice.
        instructions: Follow instructions.
        parallel: Speak several requests at once, each in a thread of its own.
    """

    cloning: bool = False
    conversion: bool = False
    instructions: bool = False
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


class VocoderStream(Protocol):
    """Turns the mel of one utterance into samples, chunk by chunk."""

    def process(self, mel: Mel, *, last: bool) -> Samples:
        """Take the next frames and give the samples that are ready.

        Args:
            last: Whether the utterance ends with these frames; then all the rest of
                its samples is given. Fewer than the frames of the mel last, but for
                some milliseconds, fail the request.
        """


@dataclass(frozen=True, slots=True, eq=False)
class VocoderPiece:
    """The next frames of one utterance.

    Attributes:
        stream: The utterance.
        mel: Its next frames.
        last: Whether the utterance ends with them.
    """

    stream: VocoderStream
    mel: Mel
    last: bool


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


@runtime_checkable
class BatchVocoder(Vocoder, Protocol):
    """Speaks several utterances at once, where that takes less time."""

    def process_all(self, pieces: Sequence[VocoderPiece]) -> Sequence[Samples]:
        """Take the next frames of utterances, each of another one.

        Returns:
            The samples of each that are ready, as its `process` would give them.
        """
