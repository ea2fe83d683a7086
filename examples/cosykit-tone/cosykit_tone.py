"""An example plug-in: an engine that hums, a front end that shouts, a kazoo."""

from collections.abc import Iterator, Sequence

import numpy as np

from cosykit.config.schema import Settings, TextSettings
from cosykit.errors import InputError, NotFoundError
from cosykit.seams import Capabilities, EngineInfo
from cosykit.types import (
    AudioChunk,
    Language,
    Mel,
    Samples,
    Sentence,
    Span,
    SpeechRequest,
    Voice,
)

RATE = 24_000
LETTER_S = 0.08

MEL_RATE = 22_050
SAMPLES_PER_FRAME = 256


class ToneEngine:
    """Hums a text, one short tone a letter and one chunk a word."""

    def __init__(self) -> None:
        self._cancelled: set[str] = set()

    @property
    def info(self) -> EngineInfo:
        """How the engine runs."""
        return EngineInfo("tone", provider="cpu", precision="fp32", threads=1)

    @property
    def sample_rate(self) -> int:
        """Samples a second of every chunk."""
        return RATE

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do: no more than every engine."""
        return Capabilities()

    def voices(self) -> Sequence[Voice]:
        """List the only voice."""
        return (Voice("hum", "Hum", ("en", "zh", "ja")),)

    def synthesize(self, request: SpeechRequest) -> Iterator[AudioChunk]:
        """Hum word by word."""
        if request.voice not in (None, "hum"):
            raise NotFoundError(
                f"unknown voice {request.voice!r}", hint="Known: hum", param="voice"
            )
        words = request.text.split()
        if not words:
            raise InputError(
                "there is nothing to hum", hint="Send some text", param="text"
            )
        try:
            for word in words:
                if request.request_id in self._cancelled:
                    return
                yield AudioChunk(_hum(word, request.speed), RATE, word)
        finally:
            self._cancelled.discard(request.request_id)

    def cancel(self, request_id: str) -> None:
        """End a request before its next word."""
        self._cancelled.add(request_id)

    def close(self) -> None:
        """Nothing to free."""


def _hum(word: str, speed: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    seconds = np.arange(round(LETTER_S / speed * RATE)) / RATE
    pitches = [220 * 2 ** (ord(letter) % 24 / 12) for letter in word]
    tones = [0.3 * np.sin(2 * np.pi * pitch * seconds) for pitch in pitches]
    return np.concatenate(tones).astype(np.float32)


class ShoutFrontend:
    """Reads every word letter by letter, as English capitals."""

    def sentences(self, text: str, language: Language | None) -> Sequence[Sentence]:
        """Give one sentence a line."""
        lines = [line.strip().upper() for line in text.splitlines() if line.strip()]
        if not lines:
            raise InputError("there is nothing to shout", hint="Send some text")
        return [Sentence((Span(line, language or "en"),)) for line in lines]


class KazooStream:
    """One utterance of the kazoo."""

    def __init__(self, pitch: float) -> None:
        self._pitch = pitch
        self._spoken = 0

    def process(self, mel: Mel, *, last: bool) -> Samples:
        """Buzz as loud as the mel says, 256 samples a frame; nothing is held back."""
        loudness = np.repeat(np.exp(mel.mean(axis=0)), SAMPLES_PER_FRAME)
        seconds = (self._spoken + np.arange(loudness.size)) / MEL_RATE
        self._spoken += loudness.size
        buzz = np.sign(np.sin(2 * np.pi * self._pitch * seconds))
        samples: Samples = np.clip(loudness * buzz, -0.5, 0.5).astype(np.float32)
        return samples


class KazooVocoder:
    """Speaks the mels of CosyVoice-300M with a buzz of one pitch."""

    @property
    def sample_rate(self) -> int:
        """Samples a second."""
        return MEL_RATE

    def begin(self, seed: Sequence[int]) -> KazooStream:
        """Begin an utterance; its seed chooses the pitch."""
        generator = np.random.default_rng(seed)
        return KazooStream(generator.uniform(150, 250))

    def close(self) -> None:
        """Nothing to free."""


def open_engine(model: str, settings: Settings) -> ToneEngine:
    """Open the engine; the entry point `tone`."""
    return ToneEngine()


def open_vocoder(model: str, settings: Settings) -> KazooVocoder:
    """Open the vocoder; the entry point `kazoo`."""
    return KazooVocoder()


def open_frontend(settings: TextSettings) -> ShoutFrontend:
    """Open the front end; the entry point `shout`."""
    return ShoutFrontend()
