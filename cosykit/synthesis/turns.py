"""Let an engine that speaks one request at a time speak several in turns.

Each turn is a piece of audio, so that a short request does not wait for a long one.
"""

import threading
from collections.abc import Collection, Generator, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field

from cosykit.types import AudioChunk, Engine, Progress, SpeechRequest


@dataclass(slots=True, eq=False)
class _Turn:
    """A request that has turns.

    Attributes:
        context: The caller's, so that log lines bear the id of the request.
    """

    request: SpeechRequest
    chunks: Generator[AudioChunk]
    context: Context = field(default_factory=copy_context)
    has_begun: bool = False
    left: bool = False


class TakingTurns:
    """Makes a `BatchEngine` of any engine; a step is one piece of one request."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._turns: dict[str, _Turn] = {}
        self._changed = threading.Lock()

    def begin(self, request: SpeechRequest) -> None:
        """Take a request in; its first turn is the next."""
        turn = _Turn(request, _pieces(self._engine, request))
        with self._changed:
            self._turns[request.request_id] = turn

    def step(self, resting: Collection[str] = ()) -> Sequence[Progress]:
        """Make the next piece of the request whose turn it is."""
        self._close_left()
        turn = self._next(resting)
        if turn is None:
            return ()
        outcome = turn.context.run(_advance, turn)
        name = turn.request.request_id
        with self._changed:
            self._turns.pop(name, None)
            if isinstance(outcome, AudioChunk):
                # Behind all others.
                self._turns[name] = turn
        return () if turn.left else (Progress(name, outcome),)

    def cancel(self, request_id: str) -> None:
        """End a request, in the middle of its turn too."""
        with self._changed:
            turn = self._turns.get(request_id)
            if turn is None or turn.left:
                return
            turn.left = True
        self._engine.cancel(request_id)

    def _next(self, resting: Collection[str]) -> _Turn | None:
        with self._changed:
            awake = [turn for name, turn in self._turns.items() if name not in resting]
        # A newcomer goes first: its listener has heard nothing yet.
        return min(awake, key=lambda turn: turn.has_begun, default=None)

    def _close_left(self) -> None:
        with self._changed:
            left = [turn for turn in self._turns.values() if turn.left]
            for turn in left:
                del self._turns[turn.request.request_id]
        for turn in left:
            turn.context.run(turn.chunks.close)


def _advance(turn: _Turn) -> AudioChunk | BaseException | None:
    turn.has_begun = True
    try:
        return next(turn.chunks, None)
    except BaseException as error:
        # Whatever an engine raises ends its own request and no other; the loop looks
        # at what it is.
        return error


def _pieces(engine: Engine, request: SpeechRequest) -> Generator[AudioChunk]:
    yield from engine.synthesize(request)
