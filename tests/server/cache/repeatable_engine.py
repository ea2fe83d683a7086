"""The counting engine, whose requests can be told apart."""

from cosykit.config.schema import Settings
from cosykit.engines.identity import digest, heard_fields
from cosykit.types import SpeechRequest
from tests.synthesis.counting_engine import CountingEngine


class RepeatableEngine(CountingEngine):
    """Normalises a text to its words in lower case."""

    def identity(self, request: SpeechRequest) -> bytes:
        words = request.text.lower().split()
        return digest(words, heard_fields(request, without=("text",)))


def open_engine(model: str, settings: Settings) -> RepeatableEngine:
    return RepeatableEngine()
