"""The loaded model behind the routes, from loading to closing."""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Literal, TypeVar

from cosykit.config.schema import Settings
from cosykit.engines.open import load, load_again
from cosykit.engines.synthesizer import Synthesizer
from cosykit.errors import BusyError, CosykitError, InputError
from cosykit.server.admission import Admission
from cosykit.server.beside import OneAtATime
from cosykit.server.cache.cache import open_cache
from cosykit.server.exchange import Exchange, Serving
from cosykit.server.metrics import Metrics
from cosykit.server.recovery import can_be_mended, repair
from cosykit.synthesis.loop import Loop
from cosykit.types import BatchEngine, Counting, Language, SpeechRequest

_log = logging.getLogger(__name__)

AUTO = "auto"
"""Names the configured model in a request."""

State = Literal["loading", "warming", "ready", "failed"]
Result = TypeVar("Result")

# One short sentence a language: it loads the language's dictionaries and lets the
# runtime claim the memory that real requests will need.
WARM_UP_TEXTS: dict[Language, str] = {
    "zh": "你好，今天天气很好。",
    "en": "Hello, it is a beautiful day today.",
    "ja": "こんにちは、今日はいい天気ですね。",
}


class SpeechService:
    """Loads a model in the background and speaks with it.

    Where a lesser one than wanted had to be loaded, the other is mended meanwhile and
    takes over.

    Args:
        on_failure: Called when the model cannot be loaded or cannot speak.
        open_model: Loads the model; None takes the one of the settings.

    Attributes:
        admission: Who is let in.
        cache: Finished speech, to be given again.
        failure: Why it cannot.
        measuring: Where recordings are measured.
        is_loading: Whether a thread is busy loading a model.
        closing: Set once no more requests are wanted.
        ports: Those that are listened on beside that of HTTP, by protocol.
    """

    def __init__(
        self,
        settings: Settings,
        on_failure: Callable[[], None] = lambda: None,
        open_model: Callable[[Settings], Synthesizer] | None = None,
    ) -> None:
        self.settings = settings
        self._on_failure = on_failure
        self._open_model = open_model or partial(load, None)
        self.metrics = Metrics()
        self.cache = open_cache(settings.cache, self.metrics)
        self.admission = Admission(settings.server)
        engine = settings.engine
        self.measuring = OneAtATime(engine.queue_size, engine.timeout_s)
        self._state: State = "loading"
        self._watchers: list[Callable[[State], None]] = []
        self.closing = asyncio.Event()
        self.ports: dict[str, int] = {}
        self.failure: Exception | None = None
        self.is_loading = False
        self.started_at = time.time()
        self._exchange = Exchange()
        self._loaded = asyncio.Event()
        self._opening: asyncio.Task[None] | None = None
        self.metrics.watch(
            "cosykit_cache_bytes",
            "Memory of this process that speech takes to be given again",
            lambda: self.cache.size_bytes,
        )
        self.metrics.watch(
            "cosykit_queue_depth",
            "Requests that wait for their first turn",
            lambda: self._exchange.waiting,
        )
        self.metrics.watch(
            "cosykit_batch_size",
            "Requests that are being spoken",
            lambda: self._exchange.active,
        )
        self.metrics.watch_count(
            "cosykit_runaways",
            "Utterances that did not end by themselves",
            self._runaways,
        )

    @property
    def state(self) -> State:
        """Where loading stands."""
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state = state
        for tell in self._watchers:
            tell(state)

    def watch_state(self, tell: Callable[[State], None]) -> None:
        """Have the state told now and whenever it changes."""
        self._watchers.append(tell)
        tell(self._state)

    def fail(self, error: Exception) -> None:
        """Give up, for a reason that `serve` raises."""
        self.failure, self.state = error, "failed"
        self._loaded.set()
        self._on_failure()

    @property
    def engine_loop(self) -> Loop | None:
        """The loop, once the model is loaded."""
        serving = self._exchange.current
        return serving.loop if serving else None

    def _runaways(self) -> int:
        engine = self._exchange.current and self._exchange.current.loop.engine
        return engine.runaways if isinstance(engine, Counting) else 0

    @property
    def fallback(self) -> str:
        """Why no better model speaks; empty if there is none."""
        serving = self._exchange.current
        return serving.fallback if serving else ""

    def start(self) -> None:
        """Begin to load the model, unless all is lost already."""
        if not self.failure:
            self._opening = asyncio.create_task(self._open())

    async def loaded(self) -> Loop:
        """Wait for the model.

        Raises:
            CosykitError: It cannot be loaded, or not in time.
        """
        return (await self._serving()).loop

    @asynccontextmanager
    async def hold(self, model: str = AUTO) -> AsyncGenerator[Serving]:
        """Wait for a model, and keep it even if a better one takes over.

        Args:
            model: As requests name it, see `start_speech`.

        Raises:
            NotFoundError: There is no such model.
            CosykitError: It cannot be loaded, or not in time.
        """
        async with self._exchange.hold(await self._serving()) as serving:
            yield serving

    async def _serving(self) -> Serving:
        with suppress(TimeoutError):
            async with asyncio.timeout(self.settings.engine.timeout_s):
                await self._loaded.wait()
        if self._exchange.current:
            return self._exchange.current
        raise self.failure or BusyError(
            f"the model is {self.state}", hint="Try again later", retry_after_s=5
        )

    def note_failure(self, error: CosykitError) -> None:
        """Count and log a failed request, but not the words of its user."""
        self.metrics.errors.labels(code=error.code).inc()
        _log.info("%s", error.code if isinstance(error, InputError) else error.message)
        _log.debug("%s", error)

    async def close(self) -> None:
        """Finish what runs within the grace period and free the model."""
        self.closing.set()
        if self._opening:
            self._opening.cancel()
            await asyncio.wait({self._opening})
        await self._exchange.close(self.settings.server.grace_s)
        await self.cache.close()

    async def _open(self) -> None:
        try:
            opened = await self._load(partial(self._open_model, self.settings))
            loop = self._loop_of(opened)
            self._exchange.put(Serving(loop, opened.fallback))
            self._loaded.set()
            if self.settings.engine.warm_up:
                self.state = "warming"
                await self._warm_up(loop)
        except Exception as error:
            # An engine may be a plug-in, and raise anything; `serve` raises it again.
            self.fail(error)
            return
        finally:
            self._loaded.set()
        self.state = "ready"
        _log_ready(opened)
        if opened.failures:
            await self._recover(opened)

    async def _recover(self, lesser: Synthesizer) -> None:
        """Mend what could not be loaded, where that can help, and let it take over."""
        model = lesser.failures[0].rung.model
        _log.warning("%s speaks instead: %s", lesser.info.model, lesser.fallback)
        is_broken = _in_background(partial(can_be_mended, model, self.settings))
        if not await asyncio.wrap_future(is_broken):
            return
        try:
            _log.info("repairing %s meanwhile", model)
            await repair(model, self.settings)
            better = await self._load(partial(load_again, lesser.failures))
            await self._take_over(better)
        except CosykitError as error:
            _log.warning("%s cannot take over: %s", model, error)
        except Exception:
            # As above, an engine may raise anything; the lesser one speaks on.
            _log.exception("%s cannot take over", model)

    async def _take_over(self, better: Synthesizer) -> None:
        loop = self._loop_of(better)
        try:
            if self.settings.engine.warm_up:
                await self._warm_up(loop)
        except BaseException:
            await loop.close()
            raise
        self._exchange.put(Serving(loop, better.fallback))
        _log_ready(better)

    async def _load(self, open_model: Callable[[], Synthesizer]) -> Synthesizer:
        self.is_loading = True
        loading = _in_background(open_model)
        # A thread that nobody waits for any more is still busy.
        loading.add_done_callback(self._note_loaded)
        return await asyncio.wrap_future(loading)

    def _note_loaded(self, loading: Future[Synthesizer]) -> None:
        self.is_loading = False

    def _loop_of(self, opened: Synthesizer) -> Loop:
        engine = self.settings.engine
        return Loop(
            opened.engine,
            queue_size=engine.queue_size,
            batch_size=engine.batch_size,
            batch_window_s=engine.batch_window_ms / 1000,
            timeout_s=engine.timeout_s,
        )

    async def _warm_up(self, loop: Loop) -> None:
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


def _log_ready(opened: Synthesizer) -> None:
    info = opened.info
    _log.info("%s is ready on %s at %s", info.model, info.provider, info.precision)


def _in_background(work: Callable[[], Result]) -> Future[Result]:
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
