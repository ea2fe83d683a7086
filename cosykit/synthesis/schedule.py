"""Who waits, who is spoken and who rests; knows neither engine nor audio.

    admit ─▶ waiting ─▶ active ⇄ resting ─▶ end

Event loops admit requests and let them go, the threads of an engine ask what to do; one
lock guards it all.
"""

import threading
import time
from collections.abc import Collection, Sequence

from cosykit.errors import BusyError
from cosykit.synthesis.job import Job
from cosykit.synthesis.limits import Limits, closing
from cosykit.synthesis.waiting import Pace, WaitingRoom


class Schedule:
    """Lets requests in, in their order, and tells threads what there is to do.

    Args:
        takes_turns: Whether each thread works on one request at a time, rather than a
            single one on all of them.
    """

    def __init__(self, limits: Limits, *, takes_turns: bool) -> None:
        self._limits, self._takes_turns = limits, takes_turns
        # Threads with nothing to do.
        self._idle = 0
        self._room = WaitingRoom()
        self._pace = Pace()
        # Since when nobody has begun, while somebody waits in vain.
        self._stuck_since: float | None = None
        self._active: dict[str, Job] = {}
        self._closing = False
        self._changed = threading.Condition()

    @property
    def waiting(self) -> int:
        """How many requests wait for a place."""
        with self._changed:
            return max(0, len(self._room) - self._places())

    @property
    def active(self) -> int:
        """How many requests have a place."""
        with self._changed:
            return len(self._active) + min(len(self._room), self._places())

    @property
    def expected_wait_s(self) -> float:
        """How long a newcomer would wait until it begins, as far as can be known."""
        with self._changed:
            return self._expected_s(len(self._room), time.monotonic())

    def admit(self, job: Job) -> None:
        """Let a request wait for its turn.

        Raises:
            BusyError: The queue is full, or it could not begin in time.
        """
        with self._changed:
            if self._closing:
                raise closing()
            now = time.monotonic()
            self._make_fit(job, now)
            self._room.add(job)
            if self._stuck_since is None and len(self._room) > self._free():
                self._stuck_since = now
            self._changed.notify_all()

    def refuse_late(self, job: Job) -> BusyError | None:
        """Let a request go that has not begun in time; None if it just has."""
        with self._changed:
            if not self._remove(job):
                return None
            now = time.monotonic()
            expected_s = self._expected_s(len(self._room), now)
            return self._cannot_start(job, "did not", expected_s)

    def leave(self, job: Job) -> bool:
        """Let go of a request; tell whether the engine has to be told so."""
        with self._changed:
            is_new = not job.left and job.name in self._active
            job.left = True
            self._remove(job)
            self._changed.notify_all()
            return is_new

    def taken(self, job: Job, duration_s: float) -> None:
        """Note that a listener took audio."""
        with self._changed:
            was_full = job.has_plenty
            job.unheard_s -= duration_s
            if was_full and not job.has_plenty:
                self._changed.notify_all()

    def close(self) -> None:
        """Let nobody in any more."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()

    def everybody(self) -> Sequence[Job]:
        """List those that wait or are being spoken."""
        with self._changed:
            return [*self._room, *self._active.values()]

    def active_jobs(self) -> Sequence[Job]:
        """List those that are being spoken."""
        with self._changed:
            return list(self._active.values())

    # What follows is called by the threads of the engine.

    def await_work(self) -> bool:
        """Wait for something to do; False once all is closed and empty."""
        with self._changed:
            was_idle = False
            while not self._has_work():
                if self._closing and not self._active and not self._room:
                    return False
                was_idle = not self._active
                self._idle += 1
                try:
                    self._changed.wait()
                finally:
                    self._idle -= 1
            if was_idle and self._limits.window_s:
                self._await_company()
        return True

    def newcomers(self) -> Sequence[Job]:
        """Give the free places to those who are next, and name them."""
        with self._changed:
            most = min(self._places(), len(self._room))
            return [self._begin_next() for _ in range(most)]

    def sorted_out(self) -> tuple[Collection[str], Collection[str]]:
        """Name the active ones whose listeners have gone, and those that rest."""
        with self._changed:
            leaving = {name for name, job in self._active.items() if job.left}
            return leaving, self._resting()

    def take(self) -> Job | None:
        """Take the request in hand whose turn it is: a newcomer, if there is one."""
        with self._changed:
            job = self._next_turn()
            if job:
                job.in_hand = True
            return job

    def put_back(self, job: Job) -> None:
        """Put a request behind all others that are being spoken."""
        with self._changed:
            job.in_hand = False
            if self._active.get(job.name) is job:
                self._active[job.name] = self._active.pop(job.name)
            self._changed.notify_all()

    def is_active(self, job: Job) -> bool:
        """Tell whether a request is being spoken."""
        return self._active.get(job.name) is job

    def active_job(self, name: str) -> Job | None:
        """Find a request that is being spoken."""
        return self._active.get(name)

    def given(self, job: Job, duration_s: float) -> None:
        """Note that audio was made."""
        with self._changed:
            job.note_given(duration_s, time.monotonic())

    def end(self, names: Collection[str]) -> None:
        """Forget requests that are spoken no more."""
        with self._changed:
            for name in names:
                self._active.pop(name, None)
            if names:
                self._changed.notify_all()

    # What follows is called with the lock held.

    def _has_work(self) -> bool:
        if self._room and self._places() > 0:
            return True
        resting = self._resting()
        return any(_is_free(job, resting) for job in self._active.values())

    def _next_turn(self) -> Job | None:
        if self._room and self._places() > 0:
            return self._begin_next()
        resting = self._resting()
        free = (job for job in self._active.values() if _is_free(job, resting))
        return next(free, None)

    def _await_company(self) -> None:
        """Give others a moment to join the first."""
        goal = time.monotonic() + self._limits.window_s
        most = self._limits.batch_size
        while len(self._room) + len(self._active) < most and not self._closing:
            left_s = goal - time.monotonic()
            if left_s <= 0 or not self._changed.wait(left_s):
                return

    def _begin_next(self) -> Job:
        now = time.monotonic()
        job = self._room.pop()
        job.has_begun = True
        self._active[job.name] = job
        if self._stuck_since is not None:
            self._pace.note_start(now - self._stuck_since)
            self._stuck_since = now if self._room else None
        return job

    def _remove(self, job: Job) -> bool:
        was_waiting = self._room.remove(job)
        if not self._room:
            self._stuck_since = None
        return was_waiting

    def _resting(self) -> Collection[str]:
        """Name those that need nothing for now.

        Whoever is ahead of its listener's time rests too while others wait, as long as
        the engine has something else to do.
        """
        jobs = self._active
        full = {name for name, job in jobs.items() if job.has_plenty}
        if not self._room and all(job.given_s or job.left for job in jobs.values()):
            return full
        now = time.monotonic()
        resting = full | {name for name, job in jobs.items() if job.is_ahead(now)}
        can_begin = self._room and self._places_beside(len(resting)) > 0
        return resting if can_begin or len(resting) < len(jobs) else full

    def _places(self) -> int:
        return self._places_beside(len(self._resting()))

    def _places_beside(self, resting: int) -> int:
        """Count the places for newcomers, while some of the active ones rest."""
        most, active = self._limits.batch_size, len(self._active)
        return max(
            0, min(most - active + resting, most + self._limits.queue_size - active)
        )

    def _free(self) -> int:
        """Count those that can begin at once."""
        return min(self._places(), self._idle) if self._takes_turns else self._places()

    def _expected_s(self, before: int, now: float) -> float:
        """Say how long one waits that has some before it."""
        starts = before + 1 - self._free()
        if starts <= 0:
            return 0.0
        stuck_s = now - self._stuck_since if self._stuck_since is not None else 0.0
        return self._pace.expected_s(starts, stuck_s)

    def _make_fit(self, job: Job, now: float) -> None:
        """See that there is room for a newcomer.

        Where the queue is full, the last one leaves it for whoever comes before it:
        neither a client that asks for much nor low priority keeps others out.
        """
        before = self._room.before(job.request)
        expected_s = self._expected_s(before, now)
        is_full = len(self._room) - self._places() >= self._limits.queue_size
        if is_full and before == len(self._room):
            raise self._full(expected_s)
        # Whoever is next may try: without a start now and then the pace would never be
        # measured anew. A client that is in a hurry is better off if it knows.
        may_try = not before and job.request.start_within_s is None
        if expected_s > self._limits.patience_s(job.request) and not may_try:
            raise self._cannot_start(job, "cannot", expected_s)
        if is_full:
            last = self._room.pop_last()
            last.post(self._full(self._expected_s(len(self._room), now)))

    def _full(self, expected_s: float) -> BusyError:
        return self._limits.full(self._pace.expected_s(1, 0.0), expected_s)

    def _cannot_start(self, job: Job, verb: str, expected_s: float) -> BusyError:
        one_start_s = self._pace.expected_s(1, 0.0)
        return self._limits.too_slow(job.request, verb, one_start_s, expected_s)


def _is_free(job: Job, resting: Collection[str]) -> bool:
    """Tell whether there is something to do for a request that nobody does."""
    return not job.in_hand and (job.left or job.name not in resting)
