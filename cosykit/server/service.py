"""The loaded model behind the routes, from loading to closing."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Literal

from cosykit.config.schema import Settings
from cosykit.engines.fallback import Failure
from cosykit.engines.open import load, load_again
from cosykit.engines.roster import find_installed_model
from cosykit.engines.synthesizer import Synthesizer
from cosykit.errors import BusyError, CosykitError, InputError
from cosykit.server.admission import Admission
from cosykit.server.beside import OneAtATime
from cosykit.server.cache.cache import open_cache
from cosykit.server.discretion import discreet, without_folders
from cosykit.server.exchange import Exchange, Serving
from cosykit.server.loading import Loader, in_background, log_ready, resident_bytes
from cosykit.server.metrics import Metrics
from cosykit.server.pool import ModelPool
from cosykit.server.recovery import (
    FIRST_PAUSE_S,
    LONGEST_PAUSE_S,
    can_be_mended,
    repair,
)
from cosykit.server.setbacks import growing_pauses
from cosykit.server.shelf import Shelf
from cosykit.synthesis.loop import Loop
from cosykit.types import Counting

_log = logging.getLogger(__name__)

AUTO = "auto"
"""Names the configured model in a request."""

OPENAI_MODELS = ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")
"""So do these: clients that were written for OpenAI name its models."""

State = Literal["loading", "warming", "ready", "failed"]


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
        shelf: Finished speech that waits to be fetched.
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
        self.shelf = Shelf()
        self.closing = asyncio.Event()
        self.ports: dict[str, int] = {}
        self.failure: Exception | None = None
        self.started_at = time.time()
        self.memory_bytes = 0
        self._loader = Loader(engine, self.metrics.engine_restarts.inc)
        self.pool = ModelPool(settings, self._loader, lambda: self.memory_bytes)
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
            lambda: self._exchange.waiting + self.pool.waiting,
        )
        self.metrics.watch(
            "cosykit_expected_wait_seconds",
            "How long a newcomer would wait for its first turn",
            self._expected_wait_s,
        )
        self.metrics.watch(
            "cosykit_batch_size",
            "Requests that are being spoken",
            lambda: self._exchange.active + self.pool.active,
        )
        self.metrics.watch_count(
            "cosykit_runaways",
            "Utterances that did not end by themselves",
            self._runaways,
        )
        self.metrics.watch_each(
            "cosykit_model_memory_bytes",
            "Memory that each loaded model takes, as far as that is known",
            "model",
            self._memory_of_models,
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

    def _memory_of_models(self) -> Mapping[str, float]:
        memory = {member.model: member.memory_bytes for member in self.pool.members}
        if loop := self.engine_loop:
            memory[loop.engine.info.model] = self.memory_bytes
        return memory

    def _expected_wait_s(self) -> float:
        serving = self._exchange.current
        return serving.loop.expected_wait_s if serving else 0.0

    def _runaways(self) -> int:
        current = self._exchange.current
        servings = [*([current] if current else []), *self.pool.servings]
        engines = (serving.loop.engine for serving in servings)
        return sum(e.runaways for e in engines if isinstance(e, Counting))

    @property
    def is_loading(self) -> bool:
        """Whether a thread is busy loading a model."""
        return self._loader.is_loading

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
        deadline = time.monotonic() + self._patience_s
        serving = await self._serving()
        found = await self.find_model(model)
        if found == AUTO:
            held = self._exchange.hold(serving)
        else:
            held = self.pool.hold(found, deadline - time.monotonic())
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

    def _is_configured(self, model: str) -> bool:
        loop = self.engine_loop
        names = (AUTO, *OPENAI_MODELS, self.settings.model)
        return model in names or (loop is not None and model == loop.engine.info.model)

    @property
    def _patience_s(self) -> float:
        """How long a request waits for a model."""
        engine = self.settings.engine
        return min(engine.start_within_s, engine.timeout_s)

    async def _serving(self) -> Serving:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience_s):
                await self._loaded.wait()
        if self._exchange.current:
            return self._exchange.current
        if isinstance(self.failure, CosykitError):
            raise discreet(self.failure, self.settings.models_dir)
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
        grace_s = self.settings.server.grace_s
        await asyncio.gather(self._exchange.close(grace_s), self.pool.close(grace_s))
        await self.cache.close()

    async def _open(self) -> None:
        try:
            opened = await self._serve(partial(self._open_model, self.settings))
        except Exception as error:
            # An engine may be a plug-in, and raise anything; `serve` raises it again.
            self.fail(error)
            return
        finally:
            self._loaded.set()
        self.state = "ready"
        log_ready(opened)
        if opened.failures:
            await self._recover(opened)

    async def _serve(self, open_model: Callable[[], Synthesizer]) -> Synthesizer:
        """Load a model that serves from its first moment, and warm it up."""
        async with self._loader.turn:
            before_bytes = resident_bytes()
            opened = await self._loader.load(open_model)
            loop = self._loader.loop_of(opened)
            self._exchange.put(self._serving_with(loop, opened))
            self._loaded.set()
            if self.settings.engine.warm_up:
                self.state = "warming"
            await self._loader.warm_up(loop)
            self.memory_bytes = max(0, resident_bytes() - before_bytes)
        return opened

    async def _recover(self, lesser: Synthesizer) -> None:
        """Mend what could not be loaded, where that can help, and let it take over."""
        model = lesser.failures[0].rung.model
        _log.warning("%s speaks instead: %s", lesser.info.model, lesser.fallback)
        if not await self._is_broken(model):
            return
        told = ""
        for pause_s in growing_pauses(FIRST_PAUSE_S, LONGEST_PAUSE_S):
            try:
                # By now its user may have mended it.
                if await self._is_broken(model):
                    _log.info("repairing %s meanwhile", model)
                    await repair(model, self.settings)
                await self._take_over(lesser.failures)
                return
            except CosykitError as error:
                level = logging.DEBUG if str(error) == told else logging.WARNING
                told = str(error)
                _log.log(level, "%s cannot take over: %s", model, error)
            except Exception:
                # As above, an engine may raise anything; the lesser one speaks on.
                _log.exception("%s cannot take over", model)
                return
            await asyncio.sleep(pause_s)

    async def _is_broken(self, model: str) -> bool:
        looking = in_background(partial(can_be_mended, model, self.settings))
        return await asyncio.wrap_future(looking)

    async def _take_over(self, failures: Sequence[Failure]) -> None:
        """Load what could not be loaded before, warm it up, and put it in its place."""
        async with self._loader.turn:
            before_bytes = resident_bytes()
            better = await self._loader.load(partial(load_again, failures))
            loop = self._loader.loop_of(better)
            try:
                await self._loader.warm_up(loop)
            except BaseException:
                await loop.close()
                raise
            self._exchange.put(self._serving_with(loop, better))
            self.memory_bytes = max(0, resident_bytes() - before_bytes)
        log_ready(better)

    def _serving_with(self, loop: Loop, opened: Synthesizer) -> Serving:
        return Serving(loop, without_folders(opened.fallback, self.settings.models_dir))
