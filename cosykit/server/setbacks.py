"""What went wrong with a load, and when it is worth another try."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass

from cosykit.errors import CosykitError, ModelLoadError, TooLittleMemoryError

_log = logging.getLogger(__name__)

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0


def growing_pauses(first_s: float, longest_s: float) -> Iterator[float]:
    """Yield how long to wait before each further try, without end."""
    pause_s = first_s
    while True:
        yield pause_s
        pause_s = min(2 * pause_s, longest_s)


@dataclass(frozen=True, slots=True)
class _Setback:
    error: CosykitError
    pauses: Iterator[float]
    retry_at: float


class Setbacks:
    """The models that could not be loaded of late.

    Args:
        now: A clock in seconds that never goes back.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._of: dict[str, _Setback] = {}

    @property
    def errors(self) -> Mapping[str, CosykitError]:
        """Why each model cannot be loaded."""
        return {model: setback.error for model, setback in self._of.items()}

    def check(self, model: str) -> None:
        """Spare a model that has just failed another try.

        Raises:
            CosykitError: As of the last try.
        """
        setback = self._of.get(model)
        if setback and self._now() < setback.retry_at:
            raise copy(setback.error)

    def note(self, model: str, error: Exception) -> CosykitError:
        """Log why a model cannot be loaded, and give it as an expected failure.

        The copy that is kept has no traceback, which would keep all that was loaded.
        """
        if isinstance(error, CosykitError):
            _log.warning("%s cannot be loaded: %s", model, error)
            known = copy(error)
        elif isinstance(error, MemoryError):
            known = TooLittleMemoryError(model)
            _log.warning("%s cannot be loaded: %s", model, known)
        else:
            # An engine may be a plug-in, and raise anything.
            _log.error("%s cannot be loaded", model, exc_info=error)
            known = ModelLoadError(
                f"{model} cannot be loaded", hint="The server's log tells more"
            )
        before = self._of.get(model)
        pauses = (
            before.pauses
            if before
            else growing_pauses(_FIRST_PAUSE_S, _LONGEST_PAUSE_S)
        )
        self._of[model] = _Setback(known, pauses, self._now() + next(pauses))
        return copy(known)

    def forget(self, model: str) -> None:
        """Take note that a model was loaded."""
        self._of.pop(model, None)
