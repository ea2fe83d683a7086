"""A request on its way from its caller to the engine, and its audio on the way back."""

import asyncio
import math
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field

from cosykit.errors import CosykitError
from cosykit.synthesis.pipeline import Finishing
from cosykit.types import AudioChunk, SpeechRequest

# Audio made ahead of a slow listener, for each request.
_MOST_UNHEARD_S = 30.0
# Audio ahead of the time in which it is heard; from here on others have more need.
_AMPLE_LEAD_S = 10.0


class End:
    """Marks the end of a request in its outbox."""


Event = AudioChunk | CosykitError | End


@dataclass(slots=True, eq=False)
class Job:
    """A request on its way; guarded by the lock of its schedule but for the outbox.

    All times are of the monotonic clock.

    Attributes:
        start_by: When it is refused, if it has not begun by then.
        end_by: When its listener has waited too long.
        context: The caller's, so that log lines of the engine's thread bear the id of
            the request.
        unheard_s: Audio that its listener has not taken yet.
        given_s: Audio that was made of it.
        heard_from: When the first of that was.
        has_begun: Whether it has a place.
        in_hand: Whether a thread is busy with it alone.
        left: Whether its listener has gone.
    """

    request: SpeechRequest
    finishing: Finishing
    listener: asyncio.AbstractEventLoop
    start_by: float = math.inf
    end_by: float = math.inf
    outbox: asyncio.Queue[Event] = field(default_factory=asyncio.Queue)
    context: Context = field(default_factory=copy_context)
    unheard_s: float = 0.0
    given_s: float = 0.0
    heard_from: float = 0.0
    has_begun: bool = False
    in_hand: bool = False
    left: bool = False

    @property
    def name(self) -> str:
        """The request's id."""
        return self.request.request_id

    @property
    def has_plenty(self) -> bool:
        """Whether enough audio waits for the listener."""
        return self.unheard_s >= _MOST_UNHEARD_S and not self.left

    def is_ahead(self, now: float) -> bool:
        """Tell whether a listener could go on listening for long without more."""
        lead_s = self.given_s - (now - self.heard_from)
        return lead_s > _AMPLE_LEAD_S and not self.left

    def note_given(self, duration_s: float, now: float) -> None:
        """Note that audio was made."""
        self.heard_from = self.heard_from if self.given_s else now
        self.given_s += duration_s
        self.unheard_s += duration_s

    def post(self, event: Event) -> None:
        """Hand something to the listener; its event loop may be gone already."""
        with suppress(RuntimeError):
            self.listener.call_soon_threadsafe(self.outbox.put_nowait, event)
