"""The one thread that owns an engine's sessions, and the queue before it.

    stream() ─▶ waiting ─▶ active ─(a step of all)─▶ outbox ─▶ the caller's event loop

A newcomer has a part in the next step. A request whose listener is slow rests until
the listener has caught up: its audio waits in the engine, not in memory, and its place
goes to another request.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field

from cosykit.errors import BusyError, CosykitError, DeadlineError
from cosykit.synthesis.pipeline import Finishing, check_abilities, for_engine
from cosykit.synthesis.turns import TakingTurns
from cosykit.types import AudioChunk, BatchEngine, Engine, Progress, SpeechRequest

_log = logging.getLogger(__name__)

# Audio made ahead of a slow listener, for each request.
_AHEAD_S = 30.0


class _End:
    """Marks the end of a request in its outbox."""


_Event = AudioChunk | CosykitError | _End


@dataclass(slots=True, eq=False)
class _Job:
    """A request on its way; guarded by the loop's condition but for the outbox.

    Attributes:
        context: The caller's, so that log lines of the engine's thread bear the id of
            the request.
        has_begun: Whether the engine knows of it.
        left: Whether its listener has gone.
    """

    request: SpeechRequest
    finishing: Finishing
    deadline: float
    listener: asyncio.AbstractEventLoop
    outbox: asyncio.Queue[_Event] = field(default_factory=asyncio.Queue)
    context: Context = field(default_factory=copy_context)
    has_begun: bool = False
    ahead_s: float = 0.0
    left: bool = False

    @property
    def name(self) -> str:
        """The request's id."""
        return self.request.request_id

    @property
    def rests(self) -> bool:
        """Whether enough audio waits for the listener."""
        return self.ahead_s >= _AHEAD_S and not self.left

    def post(self, event: _Event) -> None:
        """Hand something to the listener; its event loop may be gone already."""
        with suppress(RuntimeError):
            self.listener.call_soon_threadsafe(self.outbox.put_nowait, event)


class Loop:
    """Runs an engine in a thread of its own and hands its audio to event loops.

    Args:
        queue_size: Most requests that wait, and most that rest; one more is refused.
        batch_size: Most requests that run together; one that wakes up may exceed it.
        batch_window_s: How long the first of an idle engine waits for company, where
            the engine makes use of company.
        timeout_s: Most time that a listener waits for the audio of one request.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        queue_size: int,
        batch_size: int,
        timeout_s: float,
        batch_window_s: float = 0.0,
    ) -> None:
        self.engine = engine
        self._batch: BatchEngine
        if isinstance(engine, BatchEngine):
            self._batch, self._window_s = engine, batch_window_s
        else:
            self._batch, self._window_s = TakingTurns(engine), 0.0
        self._queue_size = queue_size
        self._batch_size = batch_size
        self._timeout_s = timeout_s
        self._waiting: deque[_Job] = deque()
        self._active: dict[str, _Job] = {}
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="cosykit-engine")
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many requests wait until there is room."""
        return len(self._waiting)

    @property
    def active(self) -> int:
        """How many requests are being spoken."""
        return len(self._active)

    async def stream(self, request: SpeechRequest) -> AsyncGenerator[AudioChunk]:
        """Speak a request; closing the iterator cancels it.

        Raises:
            BusyError: The queue is full, or the loop is closing.
            DeadlineError: The listener has waited too long.
            CosykitError: Whatever the engine has to say about the request.
        """
        job = self._admit(request)
        try:
            while isinstance(event := await self._next_event(job), AudioChunk):
                self._taken(job, event)
                taken_at = time.monotonic()
                yield event
                # A listener may take its time; only ours runs out.
                job.deadline += time.monotonic() - taken_at
            if isinstance(event, CosykitError):
                raise event
        finally:
            self._leave(job)

    async def _next_event(self, job: _Job) -> _Event:
        try:
            async with asyncio.timeout(job.deadline - time.monotonic()):
                return await job.outbox.get()
        except TimeoutError:
            return DeadlineError(
                f"the speech was not finished within {self._timeout_s:g} s",
                hint="Send less text, or raise engine.timeout_s",
            )

    async def close(self, grace_s: float = 0.0) -> None:
        """Refuse newcomers, let the others end within the grace, stop the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        await asyncio.to_thread(self._thread.join, grace_s)
        with self._changed:
            left_over = [*self._waiting, *self._active.values()]
        for job in left_over:
            job.post(_closing())
            self._leave(job)
        await asyncio.to_thread(self._thread.join)
        self.engine.close()

    def _admit(self, request: SpeechRequest) -> _Job:
        check_abilities(self.engine, request)
        job = _Job(
            for_engine(request),
            Finishing(self.engine.sample_rate, request.volume, request.pitch),
            time.monotonic() + self._timeout_s,
            asyncio.get_running_loop(),
        )
        with self._changed:
            if self._closing:
                raise _closing()
            if len(self._waiting) >= self._queue_size:
                raise BusyError(
                    f"{self._queue_size} requests are waiting already",
                    hint="Try again later, or raise engine.queue_size",
                )
            self._waiting.append(job)
            self._fill()
            self._changed.notify_all()
        return job

    def _taken(self, job: _Job, chunk: AudioChunk) -> None:
        with self._changed:
            job.ahead_s -= chunk.duration_s
            self._changed.notify_all()

    def _leave(self, job: _Job) -> None:
        """Let go of a request; the thread drops an active one before its next step."""
        with self._changed:
            job.left = True
            is_active = job.name in self._active and job.has_begun
            if job in self._waiting:
                self._waiting.remove(job)
            self._changed.notify_all()
        if is_active:
            self._batch.cancel(job.name)

    # What follows runs in the engine's thread.

    def _work(self) -> None:
        while self._await_work():
            self._begin_newcomers()
            leaving, resting = self._sorted_out()
            for name in leaving:
                # Their listeners may not have come to it yet; twice does no harm.
                self._batch.cancel(name)
            for progress in self._step(resting):
                self._hand_on(progress)
            self._forget(leaving)

    def _await_work(self) -> bool:
        """Wait for something to do; False once the loop closes and is empty."""
        with self._changed:
            was_idle = False
            self._fill()
            while all(job.rests for job in self._active.values()):
                if self._closing and not self._active:
                    return False
                was_idle = not self._active
                self._changed.wait()
                self._fill()
            if was_idle and self._window_s:
                self._await_company()
        return True

    def _await_company(self) -> None:
        """Give others a moment to join the first."""
        goal = time.monotonic() + self._window_s
        while len(self._active) < self._batch_size and not self._closing:
            left_s = goal - time.monotonic()
            if left_s <= 0 or not self._changed.wait(left_s):
                return

    def _fill(self) -> None:
        """Let those in who wait, while there is room."""
        busy = sum(not job.rests for job in self._active.values())
        room = min(
            self._batch_size - busy,
            self._batch_size + self._queue_size - len(self._active),
        )
        for _ in range(min(room, len(self._waiting))):
            job = self._waiting.popleft()
            self._active[job.name] = job

    def _begin_newcomers(self) -> None:
        with self._changed:
            newcomers = [job for job in self._active.values() if not job.has_begun]
        for job in newcomers:
            job.has_begun = True
            try:
                job.context.run(self._batch.begin, job.request)
            except BaseException as error:
                self._hand_on(Progress(job.name, error))

    def _sorted_out(self) -> tuple[set[str], set[str]]:
        """Give the requests whose listeners have gone, and those that rest."""
        with self._changed:
            jobs = tuple(self._active.values())
            leaving = {job.name for job in jobs if job.left}
            return leaving, {job.name for job in jobs if job.rests}

    def _step(self, resting: Collection[str]) -> Sequence[Progress]:
        try:
            return self._batch.step(resting)
        except BaseException as error:
            # A bug in a step ends the requests that had a part in it, neither server
            # nor thread.
            with self._changed:
                names = tuple(self._active)
            for name in names:
                self._batch.cancel(name)
            return [Progress(name, error) for name in names]

    def _hand_on(self, progress: Progress) -> None:
        """Give a listener what a step brought."""
        job = self._active.get(progress.request_id)
        if job is None:
            return
        outcome = progress.outcome
        if isinstance(outcome, AudioChunk):
            self._post_audio(job, job.finishing.process(outcome))
            return
        if outcome is None and (tail := job.finishing.finish()):
            self._post_audio(job, tail)
        self._forget([job.name])
        job.post(_End() if outcome is None else job.context.run(_expected, outcome))

    def _post_audio(self, job: _Job, chunk: AudioChunk) -> None:
        with self._changed:
            job.ahead_s += chunk.duration_s
        job.post(chunk)

    def _forget(self, names: Collection[str]) -> None:
        with self._changed:
            for name in names:
                self._active.pop(name, None)


def _expected(error: BaseException) -> CosykitError:
    """Turn a bug into a failure that tells a user enough, and log it."""
    if isinstance(error, CosykitError):
        return error
    _log.error("the engine failed", exc_info=error)
    return CosykitError(
        "the engine failed unexpectedly", hint="The server's log tells more"
    )


def _closing() -> BusyError:
    return BusyError("the server is closing", hint="Try again later")
