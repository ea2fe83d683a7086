"""What a command has spoken can be stopped."""

import os
import signal

import pytest

from cosykit.cli.narration import stoppable
from cosykit.engines.synthesizer import Synthesizer
from cosykit.types import AudioChunk, SpeechRequest
from tests.patience import PATIENCE_S
from tests.synthesis.counting_engine import CountingEngine


class InterruptedEngine(CountingEngine):
    """Presses Ctrl-C at `wait`, and runs on until it is cancelled."""

    def _speak(self, word: str) -> AudioChunk:
        if word == "wait":
            os.kill(os.getpid(), signal.SIGINT)
        return super()._speak(word)

    def cancel(self, request_id: str) -> None:
        super().cancel(request_id)
        self.gate.set()


def test_speech_passes_in_order() -> None:
    chunks = stoppable(Synthesizer(CountingEngine()), SpeechRequest("one two"))
    assert [chunk.text for chunk in chunks] == ["one", "two", ""]


def test_interrupt_ends_a_run_in_its_middle() -> None:
    engine, request = InterruptedEngine(), SpeechRequest("one wait three")
    chunks = stoppable(Synthesizer(engine), request)
    assert next(chunks).text == "one"
    with pytest.raises(KeyboardInterrupt):
        next(chunks)
    assert engine.cancelled.get(timeout=PATIENCE_S) == request.request_id
    assert "three" not in engine.spoken


def test_listener_who_leaves_ends_the_request() -> None:
    engine, request = CountingEngine(), SpeechRequest("one two three")
    chunks = stoppable(Synthesizer(engine), request)
    next(chunks)
    del chunks
    assert engine.cancelled.get(timeout=PATIENCE_S) == request.request_id
    assert engine.spoken == ["one"]
