"""The counting engine, whose requests can be told apart."""

from cosykit.config.schema import Settings
from cosykit.engines.identity import digest, heard_fields
from cosykit.errors import NotFoundError
from cosykit.types import SpeechRequest
from tests.synthesis.counting_engine import CountingEngine


class RepeatableEngine(CountingEngine):
    """Normalises a text to its words in lower case.

    Attributes:
        voice: What its voice sounds like; empty when there is none.
    """

    voice = "only"

    def identity(self, request: SpeechRequest) -> bytes:
        if not self.voice:
            raise NotFoundError("there is no voice")
        words = request.text.lower().split()
        return digest(self.voice, words, heard_fields(request, without=("text",)))


def open_engine(model: str, settings: Settings) -> RepeatableEngine:
    return RepeatableEngine()
