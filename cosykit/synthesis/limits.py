"""How many may wait, and how long; and what those are told who may not."""

from dataclasses import dataclass

from cosykit.errors import BusyError
from cosykit.types import SpeechRequest


@dataclass(frozen=True, slots=True)
class Limits:
    """How many may wait and be spoken, and for how long.

    Attributes:
        queue_size: Most requests that wait, and most that rest; one more is refused.
        batch_size: Most requests that run together; one that wakes up may exceed it.
        start_within_s: Most time that a request waits until it begins.
        window_s: How long the first of an idle engine waits for company.
    """

    queue_size: int
    batch_size: int
    start_within_s: float
    window_s: float = 0.0

    def patience_s(self, request: SpeechRequest) -> float:
        """Say how long a request may wait until it begins."""
        own = request.start_within_s
        return self.start_within_s if own is None else min(own, self.start_within_s)

    def full(self, one_start_s: float, expected_s: float) -> BusyError:
        """Say that too many wait already.

        Args:
            one_start_s: How long it takes until the next one begins.
            expected_s: The same for a newcomer.
        """
        return BusyError(
            f"{self.queue_size} requests are waiting already",
            hint="Try again later, or raise engine.queue_size",
            retry_after_s=self._retry_after_s(one_start_s, expected_s),
        )

    def too_slow(
        self, request: SpeechRequest, verb: str, one_start_s: float, expected_s: float
    ) -> BusyError:
        """Say that a request `cannot` begin in time, or `did not`; see `full`."""
        within_s = self.patience_s(request)
        is_in_a_hurry = within_s < self.start_within_s
        way = "wait longer" if is_in_a_hurry else "raise engine.start_within_s"
        return BusyError(
            f"the request {verb} start within {round(within_s, 2):g} s: the wait is "
            f"about {expected_s:.0f} s",
            hint=f"Try again later, or {way}",
            retry_after_s=self._retry_after_s(one_start_s, expected_s),
        )

    def _retry_after_s(self, one_start_s: float, expected_s: float) -> float:
        """Say after what time a new attempt would begin in time."""
        return max(1.0, one_start_s, expected_s - self.start_within_s)


def closing() -> BusyError:
    """Say that nobody is let in any more."""
    return BusyError("the server is closing", hint="Try again later")
