"""Load models one at a time beside the event loop, and make them ready to serve."""

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import psutil

from cosykit.config.schema import EngineSettings
from cosykit.engines.synthesizer import Synthesizer
from cosykit.errors import BusyError, InputError
from cosykit.seams import BatchEngine
from cosykit.server.tally import Tally
from cosykit.synthesis.loop import Loop
from cosykit.types import Language, SpeechRequest

_log = logging.getLogger(__name__)

Result = TypeVar("Result")

# One short sentence a language: it loads the language's dictionaries and lets the
# runtime claim the memory that real requests will need.
WARM_UP_TEXTS: dict[Language, str] = {
    "zh": "你好，今天天气很好。",
    "en": "Hello, it is a beautiful day today.",
    "ja": "こんにちは、今日はいい天気ですね。",
}


class Loader:
    """Loads models and warms them up.

    Args:
        on_restart: Called when the thread of a model had died and begins anew.

    Attributes:
        turn: Held by whoever loads, so that what a model takes can be measured.
        tally: What the models count.
        is_loading: Whether a thread is busy loading a model.
    """

    def __init__(
        self, engine: EngineSettings, on_restart: Callable[[], None] = lambda: None
    ) -> None:
        self._engine, self._on_restart = engine, on_restart
        self.turn = asyncio.Lock()
        self.tally = Tally()
        self.is_loading = False

    async def load(self, open_model: Callable[[], Synthesizer]) -> Synthesizer:
        """Open a model in a thread of its own."""
        self.is_loading = True
        loading = in_background(open_model)
        # A thread that nobody waits for any more is still busy.
        loading.add_done_callback(self._note_loaded)
        return await asyncio.wrap_future(loading)

    def _note_loaded(self, loading: Future[Synthesizer]) -> None:
        self.is_loading = False

    def loop_of(self, opened: Synthesizer) -> Loop:
        """Give a model its threads and its queue."""
        self.tally.watch(opened.engine)
        return Loop.configured(
            opened.engine, self._engine, self._on_restart, self.tally.settle
        )

    async def warm_up(self, loop: Loop) -> None:
        """Speak once in each language, where the configuration asks for it."""
        if not self._engine.warm_up:
            return
        # An engine may look into files for its voices.
        voices = await asyncio.to_thread(loop.engine.voices)
        spoken = {language for voice in voices for language in voice.languages}
        languages = [language for language in WARM_UP_TEXTS if language in spoken]
        if isinstance(loop.engine, BatchEngine):
            # The same networks read all languages, and take seconds for a sentence.
            del languages[1:]
        for language in languages:
            try:
                async for _ in loop.stream(SpeechRequest(WARM_UP_TEXTS[language])):
                    pass
            except (InputError, BusyError) as error:
                # A dictionary may not be installed, and others may be first.
                _log.info("no warm-up for %s: %s", language, error)


def log_ready(opened: Synthesizer) -> None:
    """Tell that a model speaks, and how."""
    info = opened.info
    _log.info("%s is ready on %s at %s", info.model, info.provider, info.precision)


def resident_bytes() -> int:
    """Measure the memory of this process."""
    resident: int = psutil.Process().memory_info().rss
    return resident


def in_background(work: Callable[[], Result]) -> Future[Result]:
    """Work in a daemon thread: a server that is stopped meanwhile does not wait."""
    working: Future[Result] = Future()
    working.set_running_or_notify_cancel()

    def run() -> None:
        try:
            working.set_result(work())
        except BaseException as error:
            working.set_exception(error)

    threading.Thread(target=run, name="cosykit-load", daemon=True).start()
    return working
