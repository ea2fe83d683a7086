"""Decide how often and when to try again."""

import random
from time import sleep

from cosykit.hub.failures import TransientError
from cosykit.hub.progress import Say

# Six tries bridge half a minute, such as a router that restarts.
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
# A hub that wants more time than this gets it from the user, not from a silent wait.
_LONGEST_WISH_S = 120.0


class Patience:
    """Counts failures in a row and waits longer after each.

    Args:
        retries: How many failures in a row are followed by another try.
        say: Hears of the waits.
    """

    def __init__(self, retries: int, say: Say) -> None:
        self._retries = retries
        self._say = say
        self._failures = 0

    def renew(self) -> None:
        """Begin to count anew, since something went well."""
        self._failures = 0

    def wait(self, error: TransientError) -> None:
        """Wait before the next try.

        Raises:
            TransientError: The one that was given; there have been tries enough.
        """
        self._failures += 1
        wish_s = error.retry_after_s or 0.0
        if self._failures > self._retries or wish_s > _LONGEST_WISH_S:
            raise error
        pause_s = max(wish_s, self._next_pause_s())
        self._say(f"{error.message}; trying again in {pause_s:.1f} s")
        sleep(pause_s)

    def _next_pause_s(self) -> float:
        pause_s = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** (self._failures - 1))
        # Many clients that were cut off together must not come back together.
        return pause_s * random.uniform(0.5, 1.0)  # noqa: S311  (no secret)
