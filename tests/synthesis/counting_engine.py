"""An engine for tests: speaks words as silence and counts what is done to it."""

import logging
import threading
from collections.abc import Iterator, Sequence
from queue import SimpleQueue

import numpy as np

from cosykit.config.schema import Settings
from cosykit.errors import (
    InputError,
    ModelLoadError,
    NothingToSpeakError,
    ResourceError,
)
from cosykit.seams import Capabilities, EngineInfo
from cosykit.types import AudioChunk, SpeechRequest, Voice
from tests.patience import PATIENCE_S

RATE = 24_000


class CountingEngine:
    """Speaks each word of a text as one chunk of silence, but for some words.

    - `wait…` holds the engine until the gate is set; `held` is set meanwhile.
    - `bug` raises what no engine should, `fail` what it may, `hush` what is no harm
      among more text.

    Attributes:
        cancelled: Ids of the requests that were cancelled.
        ended: Ids of the requests that were given up half-way.
    """

    info = EngineInfo("counting", provider="cpu", precision="fp32", threads=1)
    sample_rate = RATE
    capabilities = Capabilities()

    def __init__(self, chunk_s: float = 0.1) -> None:
        self.chunk_s = chunk_s
        self.gate = threading.Event()
        self.held = threading.Event()
        self.spoken: list[str] = []
        self.threads: set[str] = set()
        self.cancelled: SimpleQueue[str] = SimpleQueue()
        self.ended: SimpleQueue[str] = SimpleQueue()
        self.closed = threading.Event()

    def voices(self) -> Sequence[Voice]:
        return (Voice("only", "Only", ("en",)),)

    def synthesize(self, request: SpeechRequest) -> Iterator[AudioChunk]:
        words = request.text.split()
        if not words:
            raise InputError("there is nothing to say", hint="Send some text")
        try:
            for word in words:
                yield self._speak(word)
        except GeneratorExit:
            self.ended.put(request.request_id)
            raise

    def _speak(self, word: str) -> AudioChunk:
        if word.startswith("wait"):
            self.held.set()
            assert self.gate.wait(PATIENCE_S)
        elif word == "bug":
            raise ZeroDivisionError(f"a bug in {word}")
        elif word == "hush":
            raise NothingToSpeakError("there is nothing to say", hint="Send words")
        elif word == "fail":
            raise ResourceError("the disk is full", hint="Free some space")
        self.threads.add(threading.current_thread().name)
        self.spoken.append(word)
        silence = np.zeros(round(self.chunk_s * RATE), np.float32)
        return AudioChunk(silence, RATE, word)

    def cancel(self, request_id: str) -> None:
        self.cancelled.put(request_id)

    def close(self) -> None:
        self.closed.set()


OPENED: SimpleQueue[CountingEngine] = SimpleQueue()
"""The engines that were opened as a plug-in, in order."""


def open_engine(model: str, settings: Settings) -> CountingEngine:
    engine = CountingEngine()
    OPENED.put(engine)
    return engine


def open_with_bug(model: str, settings: Settings) -> CountingEngine:
    raise KeyError(model)


def open_missing(model: str, settings: Settings) -> CountingEngine:
    raise ModelLoadError(f"{model} is broken", hint="Mend it")


def open_never(model: str, settings: Settings) -> CountingEngine:
    logging.getLogger("cosykit").info("loading")
    threading.Event().wait()
    raise AssertionError
