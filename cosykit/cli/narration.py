"""Speak one request for a command, and remember what it took."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from cosykit.cli.opening import open_model
from cosykit.cli.output import note
from cosykit.cli.progress import with_progress
from cosykit.config import Settings
from cosykit.engines.synthesizer import Synthesizer
from cosykit.synthesis.pipeline import listen
from cosykit.synthesis.text.language import main_language
from cosykit.synthesis.voice.lookup import find_voice
from cosykit.types import AudioChunk, SpeechRequest


class Narration:
    """The speech of one request, made as it is asked for.

    Attributes:
        model: Id of the model that spoke; empty before the first chunk.
        voice: Id of the voice that spoke; empty before the first chunk, and where it
            is that of a recording.
        sample_rate: Samples a second of the chunks; 0 before the first.
        duration_s: Length of the speech so far.
        synthesis_s: Time spent on it, without loading the model and writing the file.
    """

    def __init__(self, settings: Settings, request: SpeechRequest) -> None:
        self._settings = settings
        self._request = request
        self.model = self.voice = ""
        self.sample_rate = 0
        self.duration_s = self.synthesis_s = 0.0

    def chunks(self) -> Iterator[AudioChunk]:
        """Load the model, then speak; nothing happens before the first is asked for.

        Raises:
            CosykitError: The model cannot be loaded or the request not be spoken.
        """
        request = self._request
        with open_model(self._settings) as synthesizer:
            self.model = synthesizer.info.model
            self.voice = _voice_id(synthesizer, request)
            began = time.perf_counter()
            for remark in listen(synthesizer.engine, request):
                note(f"{remark}.")
            self.synthesis_s = time.perf_counter() - began
            self.sample_rate = synthesizer.sample_rate
            chunks = self._timed(stoppable(synthesizer, request))
            yield from with_progress(chunks, request.text)

    def _timed(self, chunks: Iterator[AudioChunk]) -> Iterator[AudioChunk]:
        while True:
            began = time.perf_counter()
            chunk = next(chunks, None)
            self.synthesis_s += time.perf_counter() - began
            if chunk is None:
                return
            self.duration_s += chunk.duration_s
            yield chunk


def _voice_id(synthesizer: Synthesizer, request: SpeechRequest) -> str:
    voices = synthesizer.voices()
    if request.prompt or not voices:
        return ""
    language = request.language or main_language(request.text)
    return find_voice(voices, request.voice, language).id


def stoppable(synthesizer: Synthesizer, request: SpeechRequest) -> Iterator[AudioChunk]:
    """Speak in another thread, so that Ctrl-C ends a run of a model in its middle.

    In the thread of the run, Python would see to signals only after its end.
    """
    chunks = synthesizer.stream_request(request)
    with ThreadPoolExecutor(1, "cosykit-speech") as beside:
        try:
            while chunk := beside.submit(next, chunks, None).result():
                yield chunk
        except BaseException:
            synthesizer.engine.cancel(request.request_id)
            raise
