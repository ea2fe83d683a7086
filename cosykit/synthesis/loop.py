"""The one thread that owns an engine's sessions, and the queue before it.

    stream() ─▶ waiting ─▶ active ─(a turn each)─▶ outbox ─▶ the caller's event loop

Requests take turns, a piece of audio each, so that a short one does not wait for a long
one to end. A request whose listener is slow rests until the listener has caught up: its
audio waits in the engine, not in memory, and its place goes to another request.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Generator
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field

from cosykit.errors import BusyError, CosykitError, DeadlineError
from cosykit.synthesis.pipeline import speak
from cosykit.types import AudioChunk, Engine, SpeechRequest

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
    """

    request: SpeechRequest
    deadline: float
    listener: asyncio.AbstractEventLoop
    outbox: asyncio.Queue[_Event] = field(default_factory=asyncio.Queue)
    context: Context = field(default_factory=copy_context)
    chunks: Generator[AudioChunk] | None = None
    ahead_s: float = 0.0
    left: bool = False

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
        batch_size: Most requests that take turns; one that wakes up may exceed it.
        timeout_s: Most time that a listener waits for the audio of one request.
    """

    def __init__(
        self, engine: Engine, *, queue_size: int, batch_size: int, timeout_s: float
    ) -> None:
        self.engine = engine
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
            left_over = [*self._waiting, *self._active]
        for job in left_over:
            job.post(_closing())
            self._leave(job)
        await asyncio.to_thread(self._thread.join)
        self.engine.close()

    def _admit(self, request: SpeechRequest) -> _Job:
        job = _Job(
            request, time.monotonic() + self._timeout_s, asyncio.get_running_loop()
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
        """Let go of a request; the thread drops an active one at its next turn."""
        with self._changed:
            job.left = True
            is_active = job in self._active
            if job in self._waiting:
                self._waiting.remove(job)
            self._changed.notify_all()
        if is_active:
            self.engine.cancel(job.request.request_id)

    # What follows runs in the engine's thread.

    def _work(self) -> None:
        while job := self._next_job():
            event = job.context.run(self._take_turn, job)
            if not isinstance(event, AudioChunk):
                with self._changed:
                    self._active.remove(job)
            job.post(event)

    def _next_job(self) -> _Job | None:
        """Wait for a job whose turn it is; None once the loop closes and is empty."""
        with self._changed:
            while True:
                self._fill()
                if awake := [job for job in self._active if not job.rests]:
                    # A newcomer goes first: its listener has heard nothing yet.
                    job = min(awake, key=lambda each: each.chunks is not None)
                    self._active.remove(job)
                    self._active.append(job)
                    return job
                if self._closing and not self._active:
                    return None
                self._changed.wait()

    def _fill(self) -> None:
        """Let those in who wait, while there is room."""
        busy = sum(not job.rests for job in self._active)
        room = min(
            self._batch_size - busy,
            self._batch_size + self._queue_size - len(self._active),
        )
        for _ in range(min(room, len(self._waiting))):
            self._active.append(self._waiting.popleft())

    def _take_turn(self, job: _Job) -> _Event:
        """Make one piece of audio, or say how the request ended."""
        try:
            if job.chunks is None:
                job.chunks = speak(self.engine, job.request)
            if job.left:
                job.chunks.close()
                return _End()
            chunk = next(job.chunks, None)
        except CosykitError as error:
            return error
        except BaseException:
            # The one broad handler: a bug ends the request, neither server nor thread.
            _log.exception("the engine failed")
            return CosykitError(
                "the engine failed unexpectedly", hint="The server's log tells more"
            )
        if chunk is None:
            return _End()
        with self._changed:
            job.ahead_s += chunk.duration_s
        return chunk


def _closing() -> BusyError:
    return BusyError("the server is closing", hint="Try again later")
