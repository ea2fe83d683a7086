"""Cut the speech tokens of an utterance into the chunks that are spoken in one go.

    tokens  0        h0       h0+h1             n
    chunk 0 [--------|--]
    chunk 1          [--------|--]
    last                      [-----------------]

A chunk holds the tokens of its hop and an overlap, which the next one begins with.
"""

from collections import deque
from dataclasses import dataclass

from cosykit.synthesis.flow.stretch import OVERLAP_TOKENS


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long the chunks are.

    Attributes:
        hops: Speech tokens from the start of each chunk to that of the next; the last
            hop repeats. Without any, each utterance is one chunk.
        as_upstream: Whether chunks join as upstream's do: frames are counted anew in
            each, and their fades swell.
    """

    hops: tuple[int, ...] = ()
    as_upstream: bool = False


UPSTREAM = Schedule(hops=(100,), as_upstream=True)
# With 120 tokens a second of the language model, 4 ms a frame of the flow and 2.5 ms of
# the vocoder, the first audio comes after 1.2 s. At a real time factor of 0.7 in all,
# every chunk comes before all that was given has been heard. Where it is close to 1,
# longer hops keep the listener waiting sooner, and hops that begin anew with each
# utterance twice as long in half a minute.
DEFAULT = Schedule(hops=(40, 50, 60, 80, 100))
WHOLE = Schedule()
# For speech of any length, of which nobody waits for the first audio: chunks of 10 s
# join without a seam, and take as much memory as a long sentence.
LONG = Schedule(hops=(500,))


@dataclass(frozen=True, slots=True)
class Chunk:
    """Speech tokens [start, end) of an utterance; the last chunk has no overlap."""

    start: int
    end: int
    last: bool


class Hops:
    """How far apart the chunks of a request begin.

    They go on growing from one utterance to the next, since whoever listens already
    has something to hear.
    """

    def __init__(self, schedule: Schedule) -> None:
        self._left = deque(schedule.hops)

    @property
    def current(self) -> int | None:
        """Speech tokens from the next chunk to the one after it, if there is one."""
        return self._left[0] if self._left else None

    def advance(self) -> None:
        """Note that a chunk was given."""
        if len(self._left) > 1:
            self._left.popleft()


class Chunks:
    """The chunks of one utterance, in order.

    Args:
        hops: Those of the request, whose utterances have their chunks one after the
            other.
    """

    def __init__(self, hops: Hops) -> None:
        self._hops = hops
        self._start = 0
        self._over = False

    def next(self, available: int, *, ended: bool) -> Chunk | None:
        """Give the next chunk, or None if it needs more tokens or there is none.

        What it gives depends on the tokens alone, never on when it is asked.

        Args:
            available: Speech tokens of the utterance so far.
            ended: Whether these are all.
        """
        if self._over:
            return None
        chunk = self._continued(available) or (self._last(available) if ended else None)
        if chunk:
            self._hops.advance()
        return chunk

    def missing(self, available: int, *, ended: bool) -> int | None:
        """Say how many tokens the next chunk still needs.

        Returns:
            None where there is no next chunk, or nobody can tell.
        """
        if self._over:
            return None
        if ended:
            return 0
        hop = self._hops.current
        if hop is None:
            return None
        # One token more, so that the last chunk is more than an overlap.
        return max(self._start + hop + OVERLAP_TOKENS + 1 - available, 0)

    def _continued(self, available: int) -> Chunk | None:
        hop, start = self._hops.current, self._start
        if hop is None or self.missing(available, ended=False):
            return None
        self._start += hop
        return Chunk(start, start + hop + OVERLAP_TOKENS, last=False)

    def _last(self, available: int) -> Chunk:
        self._over = True
        return Chunk(self._start, available, last=True)
