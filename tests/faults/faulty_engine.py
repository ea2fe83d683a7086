"""An engine that does what it is told to, however bad that is for it."""

import time
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from cosykit.config.schema import Settings
from cosykit.seams import Capabilities, EngineInfo, Progress
from cosykit.types import AudioChunk, SpeechRequest, Voice

RATE = 24_000
CHUNK_S = 0.5


class FaultyEngine:
    """Speaks half a second a word, but for some words.

    - `slow` takes 50 ms to be made.
    - `long` is ten minutes.
    - `nan` is no number.
    - `hungry` wants 64 GB of memory.
    """

    info = EngineInfo("faulty", provider="cpu", precision="fp32", threads=1)
    sample_rate = RATE
    capabilities = Capabilities()

    def voices(self) -> Sequence[Voice]:
        return (Voice("only", "Only", ("en",)),)

    def synthesize(self, request: SpeechRequest) -> Iterator[AudioChunk]:
        for word in request.text.split():
            for _ in range(1200 if word == "long" else 1):
                yield _speak(word)

    def cancel(self, request_id: str) -> None:
        """Words are short."""

    def close(self) -> None:
        """Nothing to free."""


class DyingEngine(FaultyEngine):
    """Speaks several requests at once, and takes its thread along at the word `die`."""

    def __init__(self) -> None:
        self._words: dict[str, list[str]] = {}

    def begin(self, request: SpeechRequest) -> None:
        self._words[request.request_id] = request.text.split()

    def step(self, resting: Collection[str] = ()) -> Sequence[Progress]:
        progress = []
        for name, words in list(self._words.items()):
            if not words:
                del self._words[name]
                progress.append(Progress(name, None))
            elif words[0] == "die":
                self._words.clear()
                return broken_promise()
            else:
                progress.append(Progress(name, _speak(words.pop(0))))
        return progress

    def cancel(self, request_id: str) -> None:
        self._words.pop(request_id, None)


def broken_promise() -> Sequence[Progress]:
    """Give something that the loop cannot cope with."""
    return None  # type: ignore[return-value]


def _speak(word: str) -> AudioChunk:
    samples = np.zeros(round(CHUNK_S * RATE), np.float32)
    match word:
        case "slow":
            time.sleep(0.05)
        case "nan":
            samples[100] = np.nan
        case "hungry":
            samples = np.ones(16_000_000_000, np.float32)
    return AudioChunk(samples, RATE, word)


def open_engine(model: str, settings: Settings) -> FaultyEngine:
    return FaultyEngine()


def open_dying(model: str, settings: Settings) -> DyingEngine:
    return DyingEngine()
