"""Text to speech with the embedded voice: front end, phonemes, one run a piece."""

import threading
from collections.abc import Iterator, Sequence

import numpy as np

from cosykit.audio.level import fade_edges
from cosykit.config import Settings
from cosykit.engines.frontends import open_text_frontend
from cosykit.engines.lite.pieces import Piece, PhonemeSentence, cut_into_pieces
from cosykit.engines.lite.symbols import phoneme_ids
from cosykit.engines.lite.voices import VOICES, load_styles
from cosykit.errors import InputError, ModelLoadError
from cosykit.hub.bundle import read_bundle
from cosykit.runtime.cores import usable_cores
from cosykit.runtime.session import (
    Cancellation,
    RunCancelledError,
    Session,
    SessionSettings,
    open_session,
)
from cosykit.spec import LITE
from cosykit.synthesis.text.language import main_language
from cosykit.synthesis.text.phonemes import Phonemizer
from cosykit.synthesis.voice.lookup import find_voice
from cosykit.types import (
    AudioChunk,
    Capabilities,
    EngineInfo,
    Language,
    Samples,
    SpeechRequest,
    TextFrontend,
    Voice,
)

# The model follows speeds in this range without slurring; see `stretch` for the rest.
SLOWEST, FASTEST = 0.5, 2.0
# What counts as speech when silence is trimmed: 1 % of full scale, -40 dBFS.
_AUDIBLE = 0.01
_KEPT_EDGE_S = 0.04


class LiteEngine:
    """Kokoro-82M on ONNX Runtime."""

    def __init__(
        self, session: Session, frontend: TextFrontend, info: EngineInfo
    ) -> None:
        self._session: Session | None = session
        self._frontend = frontend
        self._phonemizer = Phonemizer()
        self._info = info
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
        return Capabilities()

    def voices(self) -> Sequence[Voice]:
        """List the five voices."""
        return VOICES
