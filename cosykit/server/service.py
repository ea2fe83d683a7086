"""What stands behind the routes: the models, and what all requests share."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from functools import partial

from cosykit.config.schema import Settings
from cosykit.engines.open import load
from cosykit.engines.roster import find_installed_model
from cosykit.engines.suited import suited
from cosykit.engines.synthesizer import Synthesizer
from cosykit.errors import CosykitError
from cosykit.seams import Engine
from cosykit.server.admission import Admission
from cosykit.server.beside import OneAtATime
from cosykit.server.cache.cache import open_cache
from cosykit.server.configured import ConfiguredModel, State
from cosykit.server.discretion import without_words
from cosykit.server.exchange import Serving
from cosykit.server.loading import Loader
from cosykit.server.metrics import Metrics
from cosykit.server.pool import ModelPool
from cosykit.server.shelf import Shelf
from cosykit.spec import Mode
from cosykit.synthesis.loop import Loop
from cosykit.synthesis.pipeline import lacking

_log = logging.getLogger(__name__)

AUTO = "auto"
"""Names the configured model in a request."""

OPENAI_MODELS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")
"""So do these: clients that were written for OpenAI name its models."""

_ANY = (AUTO, *OPENAI_MODELS)


class SpeechService:
    """Speaks with the configured model, or with another one that a request names.

    Args:
        on_failure: Called when the model cannot be loaded or cannot speak.
        open_model: Loads the model; None takes the one of the settings.

    Attributes:
        admission: Who is let in.
        cache: Finished speech, to be given again.
        shelf: Finished speech that waits to be fetched.
        measuring: Where recordings are measured.
        configured: The configured model.
        pool: The others.
        closing: Set once no more requests are wanted.
        ports: Those that are listened on beside that of HTTP, by protocol.
        started_at: When it was made, by the clock of the world.
    """

    def __init__(
        self,
        settings: Settings,
        on_failure: Callable[[], None] = lambda: None,
        open_model: Callable[[Settings], Synthesizer] | None = None,
    ) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.cache = open_cache(settings.cache, self.metrics)
        self.admission = Admission(settings.server)
        engine = settings.engine
        self.measuring = OneAtATime(engine.queue_size, engine.timeout_s)
        self.shelf = Shelf()
        self.closing = asyncio.Event()
        self.ports: dict[str, int] = {}
        self.started_at = time.time()
        self._began = time.monotonic()
        self._loader = Loader(engine, self.metrics.engine_restarts.inc)
        self.configured = ConfiguredModel(
            settings, self._loader, open_model or partial(load, None), on_failure
        )
        self.pool = ModelPool(
            settings, self._loader, lambda: self.configured.memory_bytes
        )
        self.metrics.watch(
            "cosykit_ready",
            "1 once the configured model is loaded and warm, else 0",
            lambda: self.state == "ready",
        )
        self.metrics.watch(
            "cosykit_fallback",
            "1 while a lesser model speaks in the place of the best, else 0",
            lambda: bool(self.fallback),
        )
        self.metrics.watch(
            "cosykit_cache_bytes",
            "Memory of this process that speech takes to be given again",
            lambda: self.cache.size_bytes,
        )
        self.metrics.watch(
            "cosykit_queue_depth",
            "Requests that wait for their first turn",
            lambda: self.configured.exchange.waiting + self.pool.waiting,
        )
        self.metrics.watch(
            "cosykit_expected_wait_seconds",
            "How long a newcomer would wait for its first turn",
            self._expected_wait_s,
        )
        self.metrics.watch(
            "cosykit_batch_size",
            "Requests that are being spoken",
            lambda: self.configured.exchange.active + self.pool.active,
        )
        self.metrics.watch_count(
            "cosykit_runaways",
            "Utterances that did not end by themselves",
            lambda: self._loader.tally.runaways,
        )
        self.metrics.watch_each(
            "cosykit_model_memory_bytes",
            "Memory that each loaded model takes, as far as that is known",
            "model",
            self._memory_of_models,
        )

    @property
    def uptime_s(self) -> float:
        """How long it has been there, whatever becomes of the clock."""
        return time.monotonic() - self._began

    @property
    def state(self) -> State:
        """Where loading the configured model stands."""
        return self.configured.state

    @property
    def failure(self) -> Exception | None:
        """Why it cannot be loaded, or cannot speak."""
        return self.configured.failure

    @property
    def engine_loop(self) -> Loop | None:
        """The loop of the configured model, once that is loaded."""
        serving = self.configured.exchange.current
        return serving.loop if serving else None

    def _memory_of_models(self) -> Mapping[str, float]:
        memory = {member.model: member.memory_bytes for member in self.pool.members}
        if loop := self.engine_loop:
            memory[loop.engine.info.model] = self.configured.memory_bytes
        return memory

    def _expected_wait_s(self) -> float:
        loop = self.engine_loop
        return loop.expected_wait_s if loop else 0.0

    @property
    def is_loading(self) -> bool:
        """Whether a thread is busy loading a model."""
        return self._loader.is_loading

    @property
    def fallback(self) -> str:
        """Why no better model speaks; empty if there is none."""
        serving = self.configured.exchange.current
        return serving.fallback if serving else ""

    def start(self) -> None:
        """Begin to load the configured model."""
        self.configured.start()

    async def loaded(self) -> Loop:
        """Wait for the configured model.

        Raises:
            CosykitError: It cannot be loaded, or not in time.
        """
        return (await self.configured.loaded(self._patience_s)).loop

    @asynccontextmanager
    async def hold(
        self,
        model: str = AUTO,
        modes: Collection[Mode] = (),
        voice: str | None = None,
    ) -> AsyncGenerator[Serving]:
        """Wait for a model, and keep it even if a better one takes over.

        Where neither the request nor the configuration names one, it is an installed
        one that can do what is asked.

        Args:
            model: As requests name it, see `start_speech`.
            modes: What is asked, see `modes_of`.
            voice: Whose voice, if anybody's.

        Raises:
            NotFoundError: There is no such model.
            CosykitError: It cannot be loaded, or not in time.
        """
        deadline = time.monotonic() + self._patience_s
        # Until it is loaded, its name may not be known.
        configured = await self.configured.loaded(self._patience_s)
        found = await self.find_model(model)
        is_open = model in _ANY and self.settings.model == AUTO
        if is_open and (modes or voice):
            engine = configured.loop.engine
            found = await asyncio.to_thread(self._suited, engine, modes, voice)
        patience_s = deadline - time.monotonic()
        if found == AUTO:
            held = self.configured.hold(patience_s)
        else:
            held = self.pool.hold(found, patience_s)
        async with held as holding:
            yield holding

    async def find_model(self, name: str) -> str:
        """Give the id of the installed model that a request names.

        Returns:
            `auto` for the configured one.

        Raises:
            NotFoundError: There is no such model.
        """
        if self._is_configured(name):
            return AUTO
        models_dir = self.settings.models_dir
        found = await asyncio.to_thread(find_installed_model, name, models_dir)
        return AUTO if self._is_configured(found) else found

    def _suited(
        self, engine: Engine, modes: Collection[Mode], voice: str | None
    ) -> str:
        """Choose another model for what the engine of the configured one lacks."""
        if not lacking(engine, modes) and (not voice or knows(engine, voice)):
            return AUTO
        chosen = suited(self.settings, modes, voice).model
        return AUTO if self._is_configured(chosen) else chosen

    def _is_configured(self, model: str) -> bool:
        return model in (*_ANY, self.settings.model, self.configured.name)

    @property
    def _patience_s(self) -> float:
        """How long a request waits for a model."""
        engine = self.settings.engine
        return min(engine.start_within_s, engine.timeout_s)

    def note_failure(self, error: CosykitError) -> None:
        """Count and log a failed request, but not the words of its user."""
        self.metrics.errors.labels(code=error.code).inc()
        _log.info("%s", without_words(error))
        _log.debug("%s", error)

    async def close(self) -> None:
        """Finish what runs within the grace period and free the models."""
        self.closing.set()
        grace_s = self.settings.server.grace_s
        await asyncio.gather(self.configured.close(grace_s), self.pool.close(grace_s))
        await self.cache.close()


def knows(engine: Engine, voice: str) -> bool:
    """Tell whether an engine has a voice of that id, name or alias."""
    names = (n for v in engine.voices() for n in (v.id, v.name, *v.aliases))
    return voice.strip().casefold() in (name.casefold() for name in names)
