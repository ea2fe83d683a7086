"""The loaded model behind the routes, from loading to closing."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Literal

from cosykit.config.schema import Settings
from cosykit.engines.open import load
from cosykit.errors import CosykitError, InputError
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
        on_failure: Called when the model cannot be loaded.
    """

    def __init__(
        self, settings: Settings, on_failure: Callable[[], None] = lambda: None
    ) -> None:
        self.settings = settings
        self._on_failure = on_failure
        self.metrics = Metrics()
        self.state: State = "loading"
        self.failure: CosykitError | None = None
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
            CosykitError: It could not be loaded.
        """
        await self._loaded.wait()
        if self._loop is None:
            assert self.failure is not None
            raise self.failure
        return self._loop

    async def stream(self, request: SpeechRequest) -> AsyncGenerator[AudioChunk]:
        """Speak a request; see `Loop.stream`."""
        loop = await self.loaded()
        async with aclosing(loop.stream(request)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def close(self) -> None:
        """Finish what runs within the grace period and free the model."""
        if self._opening:
            self._opening.cancel()
            await asyncio.wait([self._opening])
        if self._loop:
            await self._loop.close(self.settings.server.grace_s)

    async def _open(self) -> None:
        try:
            self._loop = await self._load()
        except CosykitError as error:
            self.failure, self.state = error, "failed"
            self._on_failure()
            return
        finally:
            self._loaded.set()
        if self.settings.engine.warm_up:
            self.state = "warming"
            await self._warm_up(self._loop)
        self.state = "ready"
        info = self._loop.engine.info
        _log.info("%s is ready on %s at %s", info.model, info.provider, info.precision)

    async def _load(self) -> Loop:
        tts = await asyncio.to_thread(load, None, self.settings)
        engine = self.settings.engine
        return Loop(
            tts.engine,
            queue_size=engine.queue_size,
            batch_size=engine.batch_size,
            timeout_s=engine.timeout_s,
        )

    async def _warm_up(self, loop: Loop) -> None:
        languages = {lang for v in loop.engine.voices() for lang in v.languages}
        for language, text in WARM_UP_TEXTS.items():
            if language not in languages:
                continue
            try:
                async for _ in loop.stream(SpeechRequest(text)):
                    pass
            except InputError as error:
                # A dictionary that is not installed is no reason not to be ready.
                _log.info("no warm-up for %s: %s", language, error)
