"""A loaded model that speaks: the Python interface of CosyKit."""

import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from cosykit.audio.decode import read_recording
from cosykit.audio.encode import Encoder
from cosykit.audio.file import write_audio
from cosykit.audio.formats import AudioFormat, format_of_suffix
from cosykit.engines.fallback import Failure
from cosykit.errors import InputError
from cosykit.seams import Engine, EngineInfo, VoiceKeeper
from cosykit.synthesis.pipeline import by_itself, speak, unable
from cosykit.types import (
    AudioChunk,
    Recording,
    Samples,
    Sampling,
    SpeechRequest,
    Voice,
    known_language,
)

RecordedAudio = str | Path | bytes | Recording
"""A recording: the path of an audio file, the content of one, or samples."""


@dataclass(frozen=True, slots=True)
class Audio:
    """Finished speech.

    Attributes:
        samples: Mono audio in [-1, 1], shape (samples,).
        sample_rate: Samples a second.
    """

    samples: Samples
    sample_rate: int

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.samples.size / self.sample_rate

    def encode(self, audio_format: AudioFormat = "wav") -> bytes:
        """Encode as wav, mp3, opus, aac, flac or pcm."""
        with Encoder(audio_format, input_rate=self.sample_rate) as encoder:
            return encoder.encode(self.samples) + encoder.finish()

    def save(self, path: str | Path, audio_format: AudioFormat | None = None) -> None:
        """Write a file; its suffix gives the format unless one is named.

        Raises:
            InputError: The suffix is unknown.
            ResourceError: The file cannot be written.
        """
        target = Path(path)
        chunk = AudioChunk(self.samples, self.sample_rate)
        write_audio(target, audio_format or format_of_suffix(target), [chunk])


class Synthesizer:
    """A loaded model that speaks.

    Threads may share it: their requests take turns, a piece of audio each.

    Attributes:
        engine: The loaded model.
        failures: Why no better one was loaded, see `fallback.py`.
    """

    def __init__(self, engine: Engine, failures: Sequence[Failure] = ()) -> None:
        self.engine = engine
        self.failures = failures
        self._turn = threading.RLock()

    @property
    def info(self) -> EngineInfo:
        """Model, provider, precision and threads in use."""
        return self.engine.info

    @property
    def fallback(self) -> str:
        """Why no better model speaks; empty if none was wanted."""
        return "; ".join(map(str, self.failures))

    @property
    def sample_rate(self) -> int:
        """Samples a second of every chunk."""
        return self.engine.sample_rate

    def voices(self) -> Sequence[Voice]:
        """List the voices."""
        return self.engine.voices()

    def add_voice(
        self,
        name: str,
        audio: RecordedAudio,
        *,
        text: str = "",
        language: str | None = None,
        replaces: bool = False,
    ) -> Sequence[str]:
        """Save the voice of a recording; later requests, also of others, may name it.

        Args:
            audio: 3 to 10 s of clear speech, 30 s at most: a file, or its content.
            text: What is said in it, word for word; without it the voice is less like.
            language: The one that is spoken; None takes that of the text.
            replaces: Whether to put it in the place of an added voice of that name.

        Returns:
            What could be better about the recording.

        Raises:
            InputError: The recording or the name cannot be used, or the model keeps no
                voices.
        """
        spoken = known_language(language or None)
        languages = (spoken,) if spoken else ()
        recording = _recording(audio, text)
        return self._keeper().add_voice(name, recording, languages, replaces=replaces)

    def remove_voice(self, name: str) -> None:
        """Delete an added voice.

        Raises:
            NotFoundError: There is none of that name.
            InputError: It came with the model.
        """
        self._keeper().remove_voice(name)

    def stream(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        speed: float = 1.0,
        volume: float = 1.0,
        prompt_audio: RecordedAudio | None = None,
        prompt_text: str = "",
        instructions: str | None = None,
        seed: int | None = None,
        sampling: Sampling | None = None,
    ) -> Iterator[AudioChunk]:
        """Speak a text piece by piece, as it is made.

        Args:
            text: In the languages of the model, which may be mixed.
            voice: Id, name or alias; None takes the default of the text's language.
            language: Overrides the detected language: zh, en, ja, yue, ko, or a tag
                such as zh-CN.
            speed: Tempo, 0.25 to 4.
            volume: Gain, 0 to 4.
            prompt_audio: A recording whose voice to speak with instead, see
                `add_voice`; its path, its content, or its samples.
            prompt_text: What is said in it.
            instructions: How to say it, for models that follow instructions.
            seed: The same one gives the same audio; CosyVoice at int8 and int4 may
                give another take while other requests are spoken.
            sampling: How speech tokens are chosen.

        Raises:
            InputError: The text or a parameter cannot be used, or asks for more than
                the model can do.
            NotFoundError: The voice does not exist.
        """
        return self.stream_request(
            SpeechRequest(
                text,
                voice=voice,
                language=known_language(language),
                speed=speed,
                volume=volume,
                prompt=_prompt(prompt_audio, prompt_text),
                instructions=instructions,
                seed=seed,
                sampling=sampling or Sampling(),
            )
        )

    def stream_request(
        self, request: SpeechRequest
    ) -> Generator[AudioChunk, None, None]:
        """Speak a request piece by piece, as it is made; closing it cancels."""
        chunks = speak(self.engine, by_itself(request))
        try:
            while True:
                with self._turn:
                    chunk = next(chunks, None)
                if chunk is None:
                    return
                yield chunk
        finally:
            with self._turn:
                chunks.close()

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        speed: float = 1.0,
        volume: float = 1.0,
        prompt_audio: RecordedAudio | None = None,
        prompt_text: str = "",
        instructions: str | None = None,
        seed: int | None = None,
        sampling: Sampling | None = None,
    ) -> Audio:
        """Speak a text and wait for all of it, which takes less time; see `stream`."""
        return self.synthesize_request(
            SpeechRequest(
                text,
                voice=voice,
                language=known_language(language),
                speed=speed,
                volume=volume,
                prompt=_prompt(prompt_audio, prompt_text),
                instructions=instructions,
                seed=seed,
                sampling=sampling or Sampling(),
                whole=True,
            )
        )

    def convert(
        self,
        audio: RecordedAudio,
        *,
        voice: str | None = None,
        prompt_audio: RecordedAudio | None = None,
        speed: float = 1.0,
        volume: float = 1.0,
        seed: int | None = None,
    ) -> Audio:
        """Say recorded speech again in another voice; see `stream`.

        Args:
            audio: The speech: a file, its content, or its samples.

        Raises:
            InputError: A recording cannot be used, or the model converts no voices.
            NotFoundError: The voice does not exist.
        """
        return self.synthesize_request(
            SpeechRequest(
                "",
                voice=voice,
                speed=speed,
                volume=volume,
                prompt=_prompt(prompt_audio, ""),
                source=_recording(audio, ""),
                seed=seed,
                whole=True,
            )
        )

    def synthesize_request(self, request: SpeechRequest) -> Audio:
        """Speak a request and wait for all of it."""
        pieces = [chunk.samples for chunk in self.stream_request(request)]
        return Audio(np.concatenate(pieces), self.sample_rate)

    def _keeper(self) -> VoiceKeeper:
        if not isinstance(self.engine, VoiceKeeper):
            raise unable(self.info.model, "zero_shot")
        return self.engine

    def close(self) -> None:
        """Free the model."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _prompt(audio: RecordedAudio | None, transcript: str) -> Recording | None:
    if audio is None and transcript:
        raise InputError(
            "there is a transcript, but no recording",
            hint="Give the recording as prompt_audio",
            param="prompt_text",
        )
    return None if audio is None else _recording(audio, transcript)


def _recording(audio: RecordedAudio, transcript: str) -> Recording:
    if isinstance(audio, Recording):
        return replace(audio, transcript=transcript) if transcript else audio
    source = audio if isinstance(audio, bytes) else Path(audio)
    return read_recording(source, transcript)
