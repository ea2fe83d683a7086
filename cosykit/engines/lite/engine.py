"""Text to speech with the embedded voice: front end, phonemes, one run a piece."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from cosykit.config import Settings
from cosykit.config.values import Auto
from cosykit.engines.frontends import open_text_frontend
from cosykit.engines.identity import digest, hashes_of, heard_fields
from cosykit.engines.lite.pieces import cut_into_pieces
from cosykit.engines.lite.reader import Reader
from cosykit.engines.lite.sessions import Sessions
from cosykit.engines.lite.speaker import Speaker
from cosykit.engines.lite.voices import VOICES
from cosykit.errors import ModelLoadError
from cosykit.hub.bundle import Bundle, read_bundle
from cosykit.runtime.cores import usable_cores
from cosykit.runtime.session import (
    Cancellation,
    RunCancelledError,
    Session,
    SessionSettings,
    open_session,
)
from cosykit.runtime.wheel import import_runtime
from cosykit.seams import Capabilities, EngineInfo
from cosykit.spec import LITE
from cosykit.synthesis.text.language import main_language
from cosykit.synthesis.voice.lookup import find_voice
from cosykit.types import AudioChunk, SpeechRequest, Voice

# The voice and the text are told as they are understood, and nothing is sampled.
_NOT_HEARD_AS_WRITTEN = (
    *("voice", "language", "text", "pronunciations"),
    *("seed", "sampling", "whole"),
)


class LiteEngine:
    """Kokoro-82M on ONNX Runtime; an `Engine` that is `Repeatable` too.

    Args:
        opened: Digest of what was opened.
    """

    def __init__(
        self, sessions: Sessions, reader: Reader, info: EngineInfo, opened: bytes
    ) -> None:
        self._sessions: Sessions | None = sessions
        self._reader = reader
        self._info = info
        self._opened = opened
        self._running: dict[str, Cancellation] = {}
        self._lock = threading.Lock()

    @property
    def info(self) -> EngineInfo:
        """How the engine runs."""
        return self._info

    @property
    def sample_rate(self) -> int:
        """Samples a second of every chunk."""
        return LITE.sample_rate

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do."""
        return Capabilities(parallel=True)

    def voices(self) -> Sequence[Voice]:
        """List the five voices."""
        return VOICES

    def synthesize(self, request: SpeechRequest) -> Iterator[AudioChunk]:
        """Speak a request, a clause first and longer pieces after it.

        Raises:
            InputError: The text cannot be spoken.
            NotFoundError: The voice does not exist.
        """
        sessions = self._sessions
        if sessions is None:
            raise ModelLoadError("the engine is closed", hint="Load the model again")
        voice = _voice_of(request)
        sentences = self._reader.sentences(
            request.text, request.language, request.pronunciations
        )
        cancellation = sessions.cancellation()
        speaker = Speaker(sessions, voice, request.speed, cancellation)
        with self._lock:
            self._running[request.request_id] = cancellation
        try:
            for piece in cut_into_pieces(sentences):
                yield AudioChunk(speaker.speak(piece), self.sample_rate, piece.text)
        except RunCancelledError:
            return
        finally:
            with self._lock:
                self._running.pop(request.request_id, None)

    def identity(self, request: SpeechRequest) -> bytes:
        """Digest what shapes the audio of a request, see `Repeatable`."""
        sentences = self._reader.normalized(
            request.text, request.language, request.pronunciations
        )
        return digest(
            self._opened,
            _voice_of(request).id,
            sentences,
            heard_fields(request, without=_NOT_HEARD_AS_WRITTEN),
        )

    def cancel(self, request_id: str) -> None:
        """End a request, in the middle of a run too; an unknown one is ignored."""
        with self._lock:
            cancellation = self._running.get(request_id)
        if cancellation:
            cancellation.cancel()

    def close(self) -> None:
        """Free the sessions."""
        self._sessions = None


def open_engine(model: str, settings: Settings) -> LiteEngine:
    """Load the embedded voice; the entry point `lite` of `cosykit.engines`.

    Raises:
        ModelLoadError: It is not installed, or a file of it is broken.
        ConfigError: The text front end of the configuration does not exist.
    """
    bundle = read_bundle(settings.models_dir, model)
    if bundle is None:
        raise ModelLoadError(
            f"{model} is not installed in {settings.models_dir}",
            hint=f"Run: cosykit install {model}",
        )
    precision = LITE.precisions[0]
    threads = settings.runtime.threads or usable_cores()
    graph = _graph(bundle)
    how = SessionSettings(
        "cpu",
        threads,
        rewrites=False,
        shrinks=True,
        remedy=f"Run: cosykit install {model} --repair",
    )
    reader = Reader(open_text_frontend(settings.text))
    import_runtime()
    # Opening the session leaves another core free: hashing takes 0.1 s, the tables of
    # the languages 0.2 s, in which no import of ours would advance. Whoever needs
    # tables that failed to load is told why then.
    with ThreadPoolExecutor(max_workers=2) as beside:
        checked = beside.submit(bundle.check)
        beside.submit(reader.load_tables)
        try:
            session = open_session(graph, how)
        finally:
            # A changed file explains why the session could not be opened.
            checked.result()
    if "durations" not in session.outputs:
        raise ModelLoadError(
            f"the graph of {model} was made by an older CosyKit",
            hint=f"Run: cosykit install {model}",
        )
    info = EngineInfo(
        model=model,
        provider=session.provider,
        precision=precision,
        threads=threads,
        note="the embedded voice is an int8 graph, which runs best on the CPU",
    )
    opened = digest(hashes_of(bundle.manifest), session.provider)
    sessions = Sessions(session, _for_company(bundle, how, settings.engine.parallel))
    return LiteEngine(sessions, reader, info, opened)


def _graph(bundle: Bundle) -> Path:
    return bundle.graph(LITE.precisions[0], LITE.graphs[0])


def _for_company(
    bundle: Bundle, how: SessionSettings, parallel: int | Auto
) -> Callable[[], Session] | None:
    """Say how to open the session that several requests share, if there are several."""
    requests = how.threads if parallel == "auto" else parallel
    if requests == 1:
        return None
    threads = max(1, how.threads // requests)
    return partial(_open_again, bundle, replace(how, threads=threads))


def _open_again(bundle: Bundle, how: SessionSettings) -> Session:
    """Open the graph of a model that speaks already."""
    bundle.check_graph(_graph(bundle))
    return open_session(_graph(bundle), how)


def _voice_of(request: SpeechRequest) -> Voice:
    language = request.language or main_language(request.text)
    return find_voice(VOICES, request.voice, language)
