"""The loaded model behind the routes, from loading to closing."""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from contextlib import aclosing, suppress
from typing import Literal

from cosykit.config.schema import Settings
from cosykit.engines.open import Synthesizer, load
from cosykit.errors import BusyError, CosykitError, InputError
from cosykit.server.metrics import Metrics
from cosykit.synthesis.loop import Loop
from cosykit.types import AudioChunk, Language, SpeechRequest

_log = logging.getLogger(__name__)

State = Literal["loading", "warming", "ready", "failed"]

# One short sentence a language: it loads the language's dictionaries and lets the
# runtime claim the memory that real requests will need.
WARM_UP_TEXTS: dict[Language, str] = {
    "zh": "你好，今天天气很好。",
    "en": "Hello, it is a beautiful day today.",
    "ja": "こんにちは、今日はいい天気ですね。",
}


class SpeechService:
    """Loads a model in the background and speaks with it.

    Args:
        on_failure: Called when the model cannot be loaded or cannot speak.

    Attributes:
        failure: Why it cannot.
    """

    def __init__(
        self, settings: Settings, on_failure: Callable[[], None] = lambda: None
    ) -> None:
        self.settings = settings
        self._on_failure = on_failure
        self.metrics = Metrics()
        self.state: State = "loading"
        self.failure: Exception | None = None
        self.started_at = time.time()
        self._loop: Loop | None = None
        self._loaded = asyncio.Event()
        self._opening: asyncio.Task[None] | None = None
        self.metrics.watch(
            "cosykit_queue_depth",
            "Requests that wait for their first turn",
            lambda: self._loop.waiting if self._loop else 0,
        )
        self.metrics.watch(
            "cosykit_batch_size",
            "Requests that are being spoken",
            lambda: self._loop.active if self._loop else 0,
        )

    @property
    def engine_loop(self) -> Loop | None:
        """The loop, once the model is loaded."""
        return self._loop

    def start(self) -> None:
        """Begin to load the model."""
        self._opening = asyncio.create_task(self._open())

    async def loaded(self) -> Loop:
        """Wait for the model.

        Raises:
            CosykitError: It cannot be loaded, or not in time.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(self.settings.engine.timeout_s):
                await self._loaded.wait()
        if self._loop:
            return self._loop
        raise self.failure or BusyError(
            f"the model is {self.state}", hint="Try again later", retry_after_s=5
        )

    async def stream(self, request: SpeechRequest) -> AsyncGenerator[AudioChunk]:
        """Speak a request; see `Loop.stream`."""
        loop = await self.loaded()
        async with aclosing(loop.stream(request)) as chunks:
            async for chunk in chunks:
                yield chunk

    def note_failure(self, error: CosykitError) -> None:
        """Count and log a failed request, but not the words of its user."""
        self.metrics.errors.labels(code=error.code).inc()
        _log.info("%s", error.code if isinstance(error, InputError) else error.message)
        _log.debug("%s", error)

    async def close(self) -> None:
        """Finish what runs within the grace period and free the model."""
        if self._opening:
            self._opening.cancel()
            await asyncio.wait({self._opening})
        if self._loop:
            await self._loop.close(self.settings.server.grace_s)

    async def _open(self) -> None:
        try:
            loop = await self._load()
            if self.settings.engine.warm_up:
                self.state = "warming"
                await self._warm_up(loop)
        except Exception as error:
            # An engine may be a plug-in, and raise anything; `serve` raises it again.
            self.failure, self.state = error, "failed"
            self._on_failure()
        else:
            self.state = "ready"
            info = loop.engine.info
            _log.info(
                "%s is ready on %s at %s", info.model, info.provider, info.precision
            )
        finally:
            self._loaded.set()

    async def _load(self) -> Loop:
        tts = await _load_in_background(self.settings)
        engine = self.settings.engine
        self._loop = Loop(
            tts.engine,
            queue_size=engine.queue_size,
            batch_size=engine.batch_size,
            batch_window_s=engine.batch_window_ms / 1000,
            timeout_s=engine.timeout_s,
        )
        self._loaded.set()
        return self._loop

    async def _warm_up(self, loop: Loop) -> None:
        languages = {lang for v in loop.engine.voices() for lang in v.languages}
        for language, text in WARM_UP_TEXTS.items():
            if language not in languages:
                continue
            try:
                async for _ in loop.stream(SpeechRequest(text)):
                    pass
            except (InputError, BusyError) as error:
                # A dictionary may not be installed, and others may be first.
                _log.info("no warm-up for %s: %s", language, error)


async def _load_in_background(settings: Settings) -> Synthesizer:
    """Load in a daemon thread: a server that is stopped meanwhile does not wait."""
    loading: Future[Synthesizer] = Future()
    loading.set_running_or_notify_cancel()

    def work() -> None:
        try:
            loading.set_result(load(None, settings))
        except BaseException as error:
            loading.set_exception(error)

    threading.Thread(target=work, name="cosykit-load", daemon=True).start()
    return await asyncio.wrap_future(loading)
