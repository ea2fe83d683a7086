"""The models that requests name: loaded when wanted, unloaded when idle.

    wanted ─▶ room is made ─▶ loading ─▶ warming ─▶ ready ─(idle)─▶ unloaded

All of them and the configured model keep within `engine.memory_limit_mb`. Where there
is no room, the idle one that was used longest ago leaves, and if that is not enough,
requests wait for others to end. One that was converted anew since is loaded anew, as
soon as nobody speaks with it.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Literal

from cosykit.config.schema import Settings
from cosykit.engines.footprint import Footprint, estimate
from cosykit.engines.open import load
from cosykit.errors import BusyError, CosykitError, ResourceError
from cosykit.hub.building import NOTHING, Standing, standing
from cosykit.runtime.arenas import give_back
from cosykit.server.exchange import Serving
from cosykit.server.loading import Loader, log_ready, resident_bytes
from cosykit.server.setbacks import Setbacks

_log = logging.getLogger(__name__)

_MEGABYTE = 1_000_000
# What a request that could not wait is told to do.
_RETRY_AFTER_S = 5.0


@dataclass(slots=True, eq=False)
class Member:
    """A model that a request has named.

    Attributes:
        users: Requests that wait for it or speak with it.
        memory_bytes: What it takes, as far as that is known.
        idle_since: When the last request left.
        standing: What was installed when it was loaded.
    """

    model: str
    state: Literal["waiting", "loading", "warming", "ready", "leaving"] = "waiting"
    users: int = 0
    memory_bytes: int = 0
    idle_since: float = 0.0
    standing: Standing = NOTHING
    serving: Serving | None = None
    opening: asyncio.Task[Serving] | None = None
    leaving: asyncio.Task[None] | None = None
    timer: asyncio.TimerHandle | None = None

    def stop_timer(self) -> None:
        """Keep it for now."""
        if self.timer:
            self.timer.cancel()
            self.timer = None


class ModelPool:
    """Loads, keeps and unloads the models that requests name.

    Args:
        configured_bytes: Tells what the configured model takes, which always stays.
    """

    def __init__(
        self, settings: Settings, loader: Loader, configured_bytes: Callable[[], int]
    ) -> None:
        self._settings = settings
        self._loader = loader
        self._configured_bytes = configured_bytes
        self._members: dict[str, Member] = {}
        self._leaving: set[Member] = set()
        self._setbacks = Setbacks()
        self._measured: dict[str, Footprint] = {}
        # Set, and replaced, whenever there may be more room than before.
        self._freed = asyncio.Event()

    @property
    def members(self) -> Sequence[Member]:
        """The models that take memory, or are about to."""
        return [*self._members.values(), *self._leaving]

    @property
    def failures(self) -> Mapping[str, CosykitError]:
        """Why others could not be loaded of late."""
        return self._setbacks.errors

    @property
    def servings(self) -> Sequence[Serving]:
        """Those that speak."""
        return [member.serving for member in self.members if member.serving]

    @property
    def waiting(self) -> int:
        """How many requests wait until there is room, of any of them."""
        return sum(serving.loop.waiting for serving in self.servings)

    @property
    def active(self) -> int:
        """How many requests are being spoken."""
        return sum(serving.loop.active for serving in self.servings)

    @asynccontextmanager
    async def hold(self, model: str, patience_s: float) -> AsyncGenerator[Serving]:
        """Wait for a model, and keep it loaded meanwhile.

        Args:
            model: One that is installed.

        Raises:
            BusyError: It is not ready in time.
            ResourceError: It can never fit into the memory limit.
            CosykitError: It cannot be loaded.
        """
        member = self._members.get(model)
        if member and self._is_outdated(member):
            self._unload(member)
            member = None
        member = member or self._join(model)
        member.users += 1
        member.stop_timer()
        try:
            yield await self._ready(member, patience_s)
        finally:
            member.users -= 1
            if not member.users:
                self._rest(member)

    async def close(self, grace_s: float) -> None:
        """Let all models finish within the grace, and free them."""
        members = [*self._members.values()]
        self._members.clear()
        for member in members:
            if member.opening:
                member.opening.cancel()
            member.stop_timer()
        opening = [member.opening for member in members if member.opening]
        if opening:
            await asyncio.wait(opening)
        leaving = [member.leaving for member in self._leaving if member.leaving]
        closing = [m.serving.loop.close(grace_s) for m in members if m.serving]
        await asyncio.gather(*closing, *leaving)

    def _is_outdated(self, member: Member) -> bool:
        """Tell whether nobody uses a model whose files have changed."""
        is_idle = member.state == "ready" and not member.users
        return is_idle and member.standing != self._standing(member.model)

    def _standing(self, model: str) -> Standing:
        return standing(self._settings.models_dir / model)

    def _join(self, model: str) -> Member:
        self._setbacks.check(model)
        member = self._members[model] = Member(model)
        member.opening = asyncio.create_task(self._open(member))
        # Whoever waited may have left before it failed.
        member.opening.add_done_callback(
            lambda task: task.cancelled() or task.exception()
        )
        return member

    async def _ready(self, member: Member, patience_s: float) -> Serving:
        assert member.opening
        await asyncio.wait({member.opening}, timeout=patience_s)
        if not member.opening.done():
            raise BusyError(
                f"{member.model} waits for memory that others use"
                if member.state == "waiting"
                else f"{member.model} is being loaded",
                hint="Try again later",
                retry_after_s=_RETRY_AFTER_S,
            )
        if member.opening.cancelled():
            raise BusyError("the server is closing", hint="Try again later")
        if error := member.opening.exception():
            # Each gets an error of its own: it hangs its frames onto it.
            raise copy(error)
        return member.opening.result()

    def _rest(self, member: Member) -> None:
        """See what becomes of a model that nobody uses any more."""
        if self._members.get(member.model) is not member:
            return
        if member.state == "waiting":
            # Nobody waits for it any more, and it has taken nothing yet.
            del self._members[member.model]
            assert member.opening
            member.opening.cancel()
        elif member.state == "ready":
            member.idle_since = time.monotonic()
            if after_s := self._settings.engine.unload_after_s:
                clock = asyncio.get_running_loop()
                member.timer = clock.call_later(after_s, self._unload, member)
            self._announce_room()

    def _announce_room(self) -> None:
        self._freed.set()
        self._freed = asyncio.Event()

    async def _open(self, member: Member) -> Serving:
        """Bring a model to where it serves."""
        try:
            serving = await self._loaded(member)
        except Exception as error:
            self._members.pop(member.model, None)
            raise self._setbacks.note(member.model, error) from None
        finally:
            self._announce_room()
        self._setbacks.forget(member.model)
        member.serving, member.state = serving, "ready"
        if not member.users:
            self._rest(member)
        return serving

    async def _loaded(self, member: Member) -> Serving:
        model = member.model
        footprint = self._measured.get(model)
        if footprint is None:
            footprint = await asyncio.to_thread(estimate, model, self._settings)
        while True:
            async with self._loader.turn:
                freed = self._freed
                if await self._make_room(model, footprint.loaded + footprint.later):
                    return await self._load(member, footprint)
            await freed.wait()

    async def _load(self, member: Member, expected: Footprint) -> Serving:
        member.state = "loading"
        member.memory_bytes = expected.loaded + expected.later
        member.standing = self._standing(member.model)
        before_bytes = resident_bytes()
        settings = self._settings.model_copy(update={"model": member.model})
        opened = await self._loader.load(partial(load, None, settings))
        loop = self._loader.loop_of(opened)
        member.state = "warming"
        try:
            await self._loader.warm_up(loop)
        except BaseException:
            await loop.close()
            raise
        taken_bytes = resident_bytes() - before_bytes
        # What others have freed meanwhile hides some of it.
        taken_bytes = max(taken_bytes, expected.loaded // 2)
        self._measured[member.model] = Footprint(taken_bytes, expected.later)
        member.memory_bytes = taken_bytes + expected.later
        log_ready(opened)
        return Serving(loop, opened.fallback)

    async def _make_room(self, model: str, needed_bytes: int) -> bool:
        """Unload idle models until another one fits; tell whether it does.

        Raises:
            ResourceError: It never will.
        """
        limit_bytes = self._settings.engine.memory_limit_mb * _MEGABYTE
        if not limit_bytes:
            return True
        self._check_possible(model, needed_bytes, limit_bytes)
        while (excess_bytes := self._taken_bytes() + needed_bytes - limit_bytes) > 0:
            if self._leaving:
                await asyncio.wait({m.leaving for m in self._leaving if m.leaving})
                continue
            idle = sorted(self._idle(), key=lambda member: member.idle_since)
            if sum(member.memory_bytes for member in idle) < excess_bytes:
                return False
            self._unload(idle[0])
        return True

    def _check_possible(self, model: str, needed_bytes: int, limit_bytes: int) -> None:
        configured_bytes = self._configured_bytes()
        if configured_bytes + needed_bytes <= limit_bytes:
            return
        least_mb = -(-(configured_bytes + needed_bytes) // _MEGABYTE)
        raise ResourceError(
            f"{model} takes {needed_bytes / _MEGABYTE:.0f} MB, and beside the "
            f"configured model there are not that many",
            hint=f"Raise engine.memory_limit_mb to {least_mb} or more",
        )

    def _taken_bytes(self) -> int:
        members = (m for m in self.members if m.state != "waiting")
        return self._configured_bytes() + sum(m.memory_bytes for m in members)

    def _idle(self) -> Sequence[Member]:
        members = self._members.values()
        return [m for m in members if m.state == "ready" and not m.users]

    def _unload(self, member: Member) -> None:
        """Begin to unload a model that nobody uses."""
        member.stop_timer()
        del self._members[member.model]
        member.state = "leaving"
        self._leaving.add(member)
        member.leaving = asyncio.create_task(self._leave(member))

    async def _leave(self, member: Member) -> None:
        assert member.serving
        await member.serving.loop.close()
        # Whatever still points to the engine would keep its memory.
        member.serving = member.opening = None
        await asyncio.to_thread(give_back)
        self._leaving.discard(member)
        self._announce_room()
        _log.info("%s is unloaded", member.model)
