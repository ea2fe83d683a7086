"""Cut the speech tokens of an utterance into the chunks that are spoken in one go.

    tokens  0        h0       h0+h1             n
    chunk 0 [--------|--]
    chunk 1          [--------|--]
    last                      [-----------------]

A chunk holds the tokens of its hop and an overlap, which the next one begins with.
"""

from dataclasses import dataclass

from cosykit.synthesis.flow.stretch import OVERLAP_TOKENS


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long the chunks are.

    Attributes:
        hops: Speech tokens from the start of each chunk to that of the next; the last
            hop repeats. Without any, the utterance is one chunk.
        as_upstream: Whether chunks join as upstream's do: frames are counted anew in
            each, and their fades swell.
    """

    hops: tuple[int, ...] = ()
    as_upstream: bool = False


UPSTREAM = Schedule(hops=(100,), as_upstream=True)
# With 120 tokens a second of the language model, 4 ms a frame of the flow and 2.5 ms of
# the vocoder, the first audio comes after 1.2 s. At a real time factor of 0.7 in all,
# every chunk comes before all that was given has been heard.
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


class Chunks:
    """The chunks of one utterance, in order."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._start = self._given = 0
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
        end = self._start + self._hop + OVERLAP_TOKENS if self._schedule.hops else None
        # One token more, so that the last chunk is more than an overlap.
        if end is not None and available > end:
            chunk = Chunk(self._start, end, last=False)
            self._start += self._hop
            self._given += 1
            return chunk
        if not ended:
            return None
        self._over = True
        return Chunk(self._start, available, last=True)

    @property
    def _hop(self) -> int:
        hops = self._schedule.hops
        return hops[min(self._given, len(hops) - 1)]
