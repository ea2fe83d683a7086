"""The one thread that owns an engine's sessions, and the queue before it.

    stream() ─▶ waiting ─▶ active ─(a turn each)─▶ outbox ─▶ the caller's event loop

Requests take turns, a piece of audio each, so that a short one does not wait for a long
one to end. A request whose listener is slow rests until the listener has caught up: its
audio waits in the engine, not in memory.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Generator
from contextlib import suppress
from dataclasses import dataclass, field

from cosykit.errors import BusyError, CosykitError, DeadlineError
from cosykit.synthesis.pipeline import speak
from cosykit.types import AudioChunk, Engine, SpeechRequest

_log = logging.getLogger(__name__)

# Audio made ahead of a slow listener, for each request.
_AHEAD_S = 30.0


class _End:
    """Marks the end of a request in its outbox."""


_Event = AudioChunk | BaseException | _End


@dataclass(slots=True, eq=False)
class _Job:
    """A request on its way; guarded by the loop's condition but for the outbox."""

    request: SpeechRequest
    deadline: float
    listener: asyncio.AbstractEventLoop
    outbox: asyncio.Queue[_Event] = field(default_factory=asyncio.Queue)
    chunks: Generator[AudioChunk] | None = None
    ahead_s: float = 0.0
    left: bool = False
    ended: bool = False

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
        queue_size: Most requests that wait; one more is refused.
        batch_size: Most requests that take turns.
        timeout_s: Most time for one request, with waiting.
    """

    def __init__(
        self, engine: Engine, *, queue_size: int, batch_size: int, timeout_s: float
    ) -> None:
        self.engine = engine
        self.failures = 0
        self._queue_size = queue_size
        self._batch_size = batch_size
        self._timeout_s = timeout_s
        self._waiting: deque[_Job] = deque()
        self._active: deque[_Job] = deque()
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="cosykit-engine")
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many requests wait for their first turn."""
        return len(self._waiting)

    @property
    def active(self) -> int:
        """How many requests take turns."""
        return len(self._active)

    async def stream(self, request: SpeechRequest) -> AsyncGenerator[AudioChunk]:
        """Speak a request; closing the iterator cancels it.

        Raises:
            BusyError: The queue is full, or the loop is closing.
            DeadlineError: The request was not finished in time.
            CosykitError: Whatever the engine has to say about the request.
        """
        job = self._admit(request)
        try:
            while isinstance(event := await self._next_event(job), AudioChunk):
                self._taken(job, event)
                yield event
            # At its deadline the request still runs, and has to be cancelled.
            job.ended = not isinstance(event, DeadlineError)
            if isinstance(event, BaseException):
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
            left_over = [*self._waiting, *self._active]
        for job in left_over:
            job.post(BusyError("the server is closing", hint="Try again later"))
            self._leave(job)
        await asyncio.to_thread(self._thread.join)
        self.engine.close()

    def _admit(self, request: SpeechRequest) -> _Job:
        job = _Job(
            request, time.monotonic() + self._timeout_s, asyncio.get_running_loop()
        )
        with self._changed:
            if self._closing:
                raise BusyError("the server is closing", hint="Try again later")
            if len(self._waiting) >= self._queue_size:
                raise BusyError(
                    f"{self._queue_size} requests are waiting already",
                    hint="Try again later, or raise engine.queue_size",
                )
            self._waiting.append(job)
            self._changed.notify_all()
        return job

    def _taken(self, job: _Job, chunk: AudioChunk) -> None:
        with self._changed:
            job.ahead_s -= chunk.duration_s
            self._changed.notify_all()

    def _leave(self, job: _Job) -> None:
        """Let go of a request; the thread drops an active one at its next turn."""
        with self._changed:
            job.left = True
            if job in self._waiting:
                self._waiting.remove(job)
            self._changed.notify_all()
        if not job.ended:
            self.engine.cancel(job.request.request_id)

    # What follows runs in the engine's thread.

    def _work(self) -> None:
        while job := self._next_job():
            event = _End() if job.left else self._take_turn(job)
            if not isinstance(event, AudioChunk):
                self._drop(job)
            job.post(event)

    def _next_job(self) -> _Job | None:
        """Wait for a job whose turn it is; None once the loop closes and is empty."""
        with self._changed:
            while True:
                self._fill()
                for _ in range(len(self._active)):
                    job = self._active[0]
                    self._active.rotate(-1)
                    if not job.rests:
                        return job
                if self._closing and not self._active:
                    return None
                self._changed.wait()

    def _fill(self) -> None:
        while self._waiting and len(self._active) < self._batch_size:
            # A newcomer goes first: its listener has heard nothing yet.
            self._active.appendleft(self._waiting.popleft())

    def _take_turn(self, job: _Job) -> _Event:
        """Make one piece of audio, or say how the request ended."""
        try:
            if job.chunks is None:
                job.chunks = speak(self.engine, job.request)
            chunk = next(job.chunks, None)
        except CosykitError as error:
            return error
        except Exception as error:
            # The one broad handler: a bug ends the request, not the server.
            self.failures += 1
            _log.exception("request %s failed", job.request.request_id)
            return error
        if chunk is None:
            return _End()
        with self._changed:
            job.ahead_s += chunk.duration_s
        return chunk

    def _drop(self, job: _Job) -> None:
        if job.chunks is not None:
            job.chunks.close()
        with self._changed:
            self._active.remove(job)
