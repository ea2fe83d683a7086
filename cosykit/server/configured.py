"""The model that the configuration names: loaded first, and always there.

Where a lesser one than wanted had to be loaded, the other is mended meanwhile and takes
over.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Literal

from cosykit.config.schema import Settings
from cosykit.engines.fallback import Failure
from cosykit.engines.open import load_again
from cosykit.engines.synthesizer import Synthesizer
from cosykit.errors import BusyError, CosykitError, OutOfMemoryError
from cosykit.server.discretion import discreet, without_folders
from cosykit.server.exchange import Exchange, Serving
from cosykit.server.loading import Loader, in_background, log_ready, resident_bytes
from cosykit.server.recovery import can_be_mended, repair
from cosykit.server.setbacks import growing_pauses
from cosykit.synthesis.loop import Loop

_log = logging.getLogger(__name__)

# How long to wait after a repair that failed: the hub or the disk may be back.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 60.0, 3600.0

State = Literal["loading", "warming", "ready", "failed"]


class ConfiguredModel:
    """Loads a model in the background, and puts a better one in its place.

    Args:
        open_model: Loads the model.
        on_failure: Called when it cannot be loaded or cannot speak.

    Attributes:
        exchange: The engines that speak for it.
        failure: Why it cannot.
        memory_bytes: What loading it took.
    """

    def __init__(
        self,
        settings: Settings,
        loader: Loader,
        open_model: Callable[[Settings], Synthesizer],
        on_failure: Callable[[], None],
    ) -> None:
        self._settings, self._loader = settings, loader
        self._open_model, self._on_failure = open_model, on_failure
        self.exchange = Exchange()
        self.failure: Exception | None = None
        self.memory_bytes = 0
        self._state: State = "loading"
        self._watchers: list[Callable[[State], None]] = []
        self._loaded = asyncio.Event()
        self._opening: asyncio.Task[None] | None = None

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

    @property
    def name(self) -> str:
        """Its id, once it is loaded; till then as the configuration has it."""
        current = self.exchange.current
        return current.loop.engine.info.model if current else self._settings.model

    @property
    def is_settled(self) -> bool:
        """Whether nothing is loaded or mended any more."""
        return self._opening is not None and self._opening.done()

    def start(self) -> None:
        """Begin to load it, unless all is lost already."""
        if not self.failure:
            self._opening = asyncio.create_task(self._open())

    def fail(self, error: Exception) -> None:
        """Give up."""
        self.failure, self.state = error, "failed"
        self._loaded.set()
        self._on_failure()

    async def loaded(self, patience_s: float) -> Serving:
        """Wait for it.

        Raises:
            CosykitError: It cannot be loaded, or not in time.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                await self._loaded.wait()
        if self.exchange.current:
            return self.exchange.current
        if isinstance(self.failure, CosykitError):
            raise discreet(self.failure, self._settings.models_dir)
        raise self.failure or BusyError(
            f"the model is {self.state}", hint="Try again later", retry_after_s=5
        )

    @asynccontextmanager
    async def hold(self, patience_s: float) -> AsyncGenerator[Serving]:
        """Wait for it, and keep the engine even if a better one takes over.

        Raises:
            CosykitError: As of `loaded`.
        """
        async with self.exchange.hold(await self.loaded(patience_s)) as serving:
            yield serving

    async def close(self, grace_s: float) -> None:
        """Finish what runs within the grace period and free it."""
        if self._opening:
            self._opening.cancel()
            await asyncio.wait({self._opening})
        await self.exchange.close(grace_s)

    async def _open(self) -> None:
        try:
            opened = await self._serve()
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

    async def _serve(self) -> Synthesizer:
        """Load it, let it speak from that moment on, and warm it up."""
        async with self._loader.turn:
            before_bytes = resident_bytes()
            opened = await self._loader.load(partial(self._open_model, self._settings))
            loop = self._loader.loop_of(opened)
            self._put(loop, opened)
            self._loaded.set()
            if self._settings.engine.warm_up:
                self.state = "warming"
            try:
                await self._loader.warm_up(loop)
            except OutOfMemoryError as error:
                # Those who ask already may need less, and each of them is told.
                _log.warning("no warm-up: %s", error)
            self.memory_bytes = max(0, resident_bytes() - before_bytes)
        return opened

    async def _recover(self, lesser: Synthesizer) -> None:
        """Mend what could not be loaded, where that can help, and let it take over."""
        model = lesser.failures[0].rung.model
        _log.warning("%s speaks instead: %s", lesser.info.model, lesser.fallback)
        if not await self._is_broken(model):
            return
        told = ""
        for pause_s in growing_pauses(_FIRST_PAUSE_S, _LONGEST_PAUSE_S):
            try:
                # By now its user may have mended it.
                if await self._is_broken(model):
                    _log.info("repairing %s meanwhile", model)
                    await repair(model, self._settings)
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
        looking = in_background(partial(can_be_mended, model, self._settings))
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
            self._put(loop, better)
            self.memory_bytes = max(0, resident_bytes() - before_bytes)
        log_ready(better)

    def _put(self, loop: Loop, opened: Synthesizer) -> None:
        fallback = without_folders(opened.fallback, self._settings.models_dir)
        self.exchange.put(Serving(loop, fallback))
