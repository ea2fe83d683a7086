"""The threads that own an engine's sessions, and the way of requests through them.

    stream() ─▶ schedule ─▶ (begin, step) ─▶ outbox ─▶ the caller's event loop

A newcomer has a part in the next step. A request whose listener is slow rests until
the listener has caught up: its audio waits in the engine, not in memory, and its place
goes to another request.
"""

import asyncio
import logging
import math
import time
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from typing import Self

from cosykit.config.schema import EngineSettings
from cosykit.config.values import Auto
from cosykit.errors import CosykitError, DeadlineError, OutOfMemoryError
from cosykit.seams import BatchEngine, Engine, Progress
from cosykit.synthesis.job import End, Event, Job
from cosykit.synthesis.lasting import LastingThreads
from cosykit.synthesis.limits import Limits, closing
from cosykit.synthesis.pipeline import Finishing, check_abilities, for_engine
from cosykit.synthesis.schedule import Schedule
from cosykit.synthesis.turns import Turns
from cosykit.types import AudioChunk, SpeechRequest

_log = logging.getLogger(__name__)

THREAD_NAME = "cosykit-engine"

# How long closing waits for the step that is under way, once nobody wants its audio:
# the longest that we know takes 1 s on two cores.
_LAST_STEP_S = 5.0


class Loop:
    """Runs an engine in threads of its own and hands its audio to event loops.

    Args:
        queue_size: Most requests that wait, and most that rest; one more is refused.
        batch_size: Most requests that run together; one that wakes up may exceed it.
        batch_window_s: How long the first of an idle engine waits for company, where
            the engine makes use of company.
        start_within_s: Most time that a request waits until it begins.
        timeout_s: Most time that a listener waits for the audio of one request.
        parallel: Threads that speak at once, where an engine can that does not batch;
            `auto` takes as many as a run of it has.
        on_restart: Called when a thread of the engine had died and begins anew.
        on_close: Called with the engine once it speaks no more.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        queue_size: int,
        batch_size: int,
        timeout_s: float,
        batch_window_s: float = 0.0,
        start_within_s: float = math.inf,
        parallel: int | Auto = "auto",
        on_restart: Callable[[], None] = lambda: None,
        on_close: Callable[[Engine], None] = lambda engine: None,
    ) -> None:
        self.engine = engine
        self._timeout_s = timeout_s
        self._on_restart, self._on_close = on_restart, on_close
        self._turns = Turns(engine)
        self._batch = engine if isinstance(engine, BatchEngine) else None
        threads = _threads(engine, parallel)
        if self._batch is None:
            batch_size, batch_window_s = max(batch_size, threads), 0.0
        self._limits = Limits(queue_size, batch_size, start_within_s, batch_window_s)
        self._schedule = Schedule(self._limits, takes_turns=self._batch is None)
        work = self._step_all if self._batch else self._take_turns
        self._threads = LastingThreads(THREAD_NAME, threads, work, self._begin_anew)

    @classmethod
    def configured(
        cls,
        engine: Engine,
        settings: EngineSettings,
        on_restart: Callable[[], None] = lambda: None,
        on_close: Callable[[Engine], None] = lambda engine: None,
    ) -> Self:
        """Run an engine as the configuration says."""
        return cls(
            engine,
            queue_size=settings.queue_size,
            batch_size=settings.batch_size,
            batch_window_s=settings.batch_window_ms / 1000,
            start_within_s=settings.start_within_s,
            timeout_s=settings.timeout_s,
            parallel=settings.parallel,
            on_restart=on_restart,
            on_close=on_close,
        )

    @property
    def waiting(self) -> int:
        """How many requests wait until there is room."""
        return self._schedule.waiting

    @property
    def active(self) -> int:
        """How many requests are being spoken, or are about to be."""
        return self._schedule.active

    @property
    def expected_wait_s(self) -> float:
        """How long a newcomer would wait until it begins, as far as can be known."""
        return self._schedule.expected_wait_s

    @property
    def restarts(self) -> int:
        """How often a thread of the engine died and began anew."""
        return self._threads.restarts

    async def stream(
        self, request: SpeechRequest, waited_s: float = 0.0
    ) -> AsyncGenerator[AudioChunk]:
        """Speak a request; closing the iterator cancels it.

        Args:
            waited_s: How much of its time a request has used up before, such as for
                its model to be loaded.

        Raises:
            BusyError: The queue is full, the request cannot begin in time, or the loop
                is closing.
            DeadlineError: The listener has waited too long.
            CosykitError: Whatever the engine has to say about the request.
        """
        job = self._admit(request, waited_s)
        try:
            while isinstance(event := await self._next_event(job), AudioChunk):
                self._schedule.taken(job, event.duration_s)
                taken_at = time.monotonic()
                yield event
                # A listener may take its time; only ours runs out.
                job.end_by += time.monotonic() - taken_at
            if isinstance(event, CosykitError):
                raise event
        finally:
            self._leave(job)

    def _admit(self, request: SpeechRequest, waited_s: float) -> Job:
        check_abilities(self.engine, request)
        came_at = time.monotonic() - waited_s
        job = Job(
            for_engine(request),
            Finishing(self.engine.sample_rate, request.volume, request.pitch),
            asyncio.get_running_loop(),
            start_by=came_at + self._limits.patience_s(request),
            end_by=came_at + self._timeout_s,
        )
        self._schedule.admit(job)
        return job

    async def _next_event(self, job: Job) -> Event:
        while True:
            goal = job.end_by if job.has_begun else min(job.start_by, job.end_by)
            try:
                async with asyncio.timeout(goal - time.monotonic()):
                    return await job.outbox.get()
            except TimeoutError:
                if goal == job.end_by:
                    return self._too_late()
                if refusal := self._schedule.refuse_late(job):
                    return refusal

    def _too_late(self) -> DeadlineError:
        return DeadlineError(
            f"the speech was not finished within {self._timeout_s:g} s",
            hint="Send less text, or raise engine.timeout_s",
        )

    async def close(self, grace_s: float = 0.0) -> None:
        """Refuse newcomers, let the others end within the grace, stop the threads.

        An engine whose step does not end is left as it is.
        """
        self._schedule.close()
        if not all(job.left for job in self._schedule.everybody()):
            await asyncio.to_thread(self._threads.join, grace_s)
        for job in self._schedule.everybody():
            job.post(closing())
            self._leave(job)
        self._threads.hurry()
        has_ended = await asyncio.to_thread(self._threads.join, _LAST_STEP_S)
        self._on_close(self.engine)
        if not has_ended:
            # To free what a thread works with would end the process.
            _log.error("the engine does not end what it does, and is left behind")
            return
        try:
            self.engine.close()
        except Exception:
            # Of a plug-in; whoever closes has more to do.
            _log.exception("the engine cannot be closed")

    def _leave(self, job: Job) -> None:
        """Let go of a request; the threads drop an active one as soon as they can."""
        if self._schedule.leave(job):
            self._cancel(job.name)

    def _cancel(self, name: str) -> None:
        # Both have it, and mean the same by it.
        (self._batch or self.engine).cancel(name)

    # What follows runs in the engine's threads.

    def _take_turns(self) -> None:
        while self._schedule.await_work():
            job = self._schedule.take()
            if job is None:
                # Another thread was faster.
                continue
            try:
                self._take_turn(job)
            finally:
                self._schedule.put_back(job)

    def _take_turn(self, job: Job) -> None:
        outcome = None if job.left else self._turns.take(job)
        if job.left:
            self._schedule.end([job.name])
        else:
            self._hand_on(job, outcome)
        if not self._schedule.is_active(job):
            self._turns.end(job)

    def _step_all(self) -> None:
        assert self._batch
        while self._schedule.await_work():
            for job in self._schedule.newcomers():
                self._begin(self._batch, job)
            leaving, resting = self._schedule.sorted_out()
            for name in leaving:
                # Their listeners may not have come to it yet; twice does no harm.
                self._batch.cancel(name)
            for progress in self._step(self._batch, resting):
                self._hand_on_progress(progress)
            self._schedule.end(leaving)

    def _begin(self, batch: BatchEngine, job: Job) -> None:
        try:
            job.context.run(batch.begin, job.request)
        except BaseException as error:
            self._fail(job, error)

    def _step(self, batch: BatchEngine, resting: Collection[str]) -> Sequence[Progress]:
        try:
            return batch.step(resting)
        except BaseException as error:
            # A bug in a step ends the requests that had a part in it, neither server
            # nor thread.
            self._fail_all(error)
            return ()

    def _hand_on_progress(self, progress: Progress) -> None:
        if job := self._schedule.active_job(progress.request_id):
            self._hand_on(job, progress.outcome)

    def _hand_on(self, job: Job, outcome: AudioChunk | BaseException | None) -> None:
        """Give a listener what its request came to."""
        try:
            if isinstance(outcome, BaseException):
                raise outcome
            if outcome is not None:
                self._post_audio(job, job.finishing.process(outcome))
                return
            if tail := job.finishing.finish():
                self._post_audio(job, tail)
        except BaseException as error:
            # An engine may give audio that is none, and not know that.
            if not isinstance(outcome, BaseException):
                self._cancel(job.name)
            self._fail(job, error)
            return
        self._schedule.end([job.name])
        job.post(End())

    def _post_audio(self, job: Job, chunk: AudioChunk) -> None:
        self._schedule.given(job, chunk.duration_s)
        job.post(chunk)

    def _fail(self, job: Job, error: BaseException) -> None:
        self._schedule.end([job.name])
        job.post(job.context.run(_expected, error))

    def _fail_all(self, error: BaseException) -> None:
        """Fail all that are being spoken; those who wait go on waiting."""
        jobs = self._schedule.active_jobs()
        for job in jobs:
            self._cancel(job.name)
            job.post(_expected(error))
        self._schedule.end([job.name for job in jobs])

    def _begin_anew(self, error: BaseException) -> None:
        """Put in order what a thread left behind: nobody knows how far it had come."""
        self._on_restart()
        self._fail_all(error)


def _threads(engine: Engine, wanted: int | Auto) -> int:
    if isinstance(engine, BatchEngine) or not engine.capabilities.parallel:
        return 1
    return engine.info.threads if wanted == "auto" else wanted


def _expected(error: BaseException) -> CosykitError:
    """Turn a bug into a failure that tells a user enough, and log it."""
    if isinstance(error, CosykitError):
        return error
    if isinstance(error, MemoryError):
        return OutOfMemoryError()
    _log.error("the engine failed", exc_info=error)
    return CosykitError(
        "the engine failed unexpectedly", hint="The server's log tells more"
    )
