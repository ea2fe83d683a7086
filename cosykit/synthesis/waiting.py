"""Who is next among those who wait, and how long it takes until one is.

Requests of a higher priority come first. Among equals every client gets the same share
of the engine, measured in text, however much each of them asks for; the requests of one
client come in their order.
"""

import math
from bisect import bisect_left, insort
from collections.abc import Iterator
from itertools import count
from operator import itemgetter
from typing import NamedTuple

from cosykit.synthesis.job import Job
from cosykit.types import SpeechRequest

# What a request costs at least, in characters: a run of any model has a fixed part.
_LEAST_COST = 20
# Recorded speech that is said again, by the characters that take as long.
_CHARACTERS_A_SECOND = 5
# The past counts less with every start, so that the last ten or so decide.
_FADING = 0.9
# With fewer starts the pace is anybody's guess.
_FEWEST_STARTS = 2.5


class _Ticket(NamedTuple):
    """A place in the line; the smallest is next.

    Attributes:
        starts_at: What its client will have been given before it.
        number: Of its coming.
    """

    minus_priority: int
    starts_at: float
    number: float


class WaitingRoom:
    """Those who wait, next one first.

    Each client has an account of the characters that were given to it, and who has
    been given least is next. Whoever comes anew is put on a level with those who are
    served now, so that nobody saves up for later. (Start-time fair queueing.)
    """

    def __init__(self) -> None:
        self._line: list[tuple[_Ticket, Job]] = []
        self._numbers = count()
        self._level = 0.0
        # What clients were given, and what they will be with all that waits.
        self._given: dict[str, float] = {}
        self._promised: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._line)

    def __iter__(self) -> Iterator[Job]:
        return (job for _, job in self._line)

    def before(self, request: SpeechRequest) -> int:
        """Count those that a newcomer would have to let go first."""
        ticket = self._ticket(request, math.inf)
        return bisect_left(self._line, ticket, key=itemgetter(0))

    def add(self, job: Job) -> None:
        """Let a request wait."""
        ticket = self._ticket(job.request, next(self._numbers))
        insort(self._line, (ticket, job), key=itemgetter(0))
        self._promised[job.request.client] = ticket.starts_at + _cost(job.request)

    def pop(self) -> Job:
        """Take out the next one, on its client's account."""
        ticket, job = self._line.pop(0)
        client = job.request.client
        self._given[client] = ticket.starts_at + _cost(job.request)
        self._level = max(self._level, ticket.starts_at)
        self._forget_settled()
        return job

    def pop_last(self) -> Job:
        """Take out who would have been the last one, at no cost."""
        _, job = self._line.pop()
        self._promise_rest(job.request.client)
        return job

    def remove(self, job: Job) -> bool:
        """Let one go that waits no longer, at no cost; tell whether it waited."""
        for place, (_, waiting) in enumerate(self._line):
            if waiting is job:
                del self._line[place]
                self._promise_rest(job.request.client)
                return True
        return False

    def _ticket(self, request: SpeechRequest, number: float) -> _Ticket:
        starts_at = max(self._level, self._promised.get(request.client, 0.0))
        return _Ticket(-request.priority, starts_at, number)

    def _promise_rest(self, client: str) -> None:
        promised = self._given.get(client, 0.0)
        for ticket, job in self._line:
            if job.request.client == client:
                promised = max(promised, ticket.starts_at + _cost(job.request))
        self._promised[client] = promised

    def _forget_settled(self) -> None:
        """Close accounts that differ in nothing from those of newcomers."""
        for client in [c for c, due in self._promised.items() if due <= self._level]:
            del self._promised[client]
            self._given.pop(client, None)


class Pace:
    """How long it takes until the next of those who wait begins.

    Only the time in which somebody waits counts.
    """

    def __init__(self) -> None:
        self._starts = 0.0
        self._waited_s = 0.0

    def note_start(self, waited_s: float) -> None:
        """Note that one began, after nobody had for a time."""
        self._starts = _FADING * self._starts + 1
        self._waited_s = _FADING * self._waited_s + waited_s

    def expected_s(self, starts: int, waited_s: float) -> float:
        """Say how long so many starts take; 0 as long as nobody can know.

        Args:
            waited_s: How long nobody has begun; it makes the pace slower, but says
                nothing about when the next one begins.
        """
        if self._starts < _FEWEST_STARTS:
            return 0.0
        return starts * (self._waited_s + waited_s) / self._starts


def _cost(request: SpeechRequest) -> float:
    length = float(len(request.text))
    if request.source:
        seconds = request.source.samples.size / request.source.sample_rate
        length = max(length, seconds * _CHARACTERS_A_SECOND)
    return max(length, _LEAST_COST)
