"""Threads that begin their work anew when something kills it."""

import logging
import threading
import time
from collections.abc import Callable

_log = logging.getLogger(__name__)

# Pauses before work begins anew; they double while it dies young.
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 10.0


class LastingThreads:
    """Do the same work until it returns, whatever it raises meanwhile.

    Args:
        work: What all of them do.
        on_death: Puts in order what the work left behind when it raised something.

    Attributes:
        restarts: How often work was begun anew.
    """

    def __init__(
        self,
        name: str,
        size: int,
        work: Callable[[], None],
        on_death: Callable[[BaseException], None],
    ) -> None:
        self._work, self._on_death = work, on_death
        self.restarts = 0
        self._pauses_end = threading.Event()
        self._threads = [
            # An engine may be a plug-in, whose step never ends; the process has to.
            threading.Thread(target=self._last, name=name, daemon=True)
            for _ in range(size)
        ]
        for thread in self._threads:
            thread.start()

    def join(self, timeout_s: float) -> bool:
        """Wait until all have returned; tell whether they have."""
        goal = time.monotonic() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, goal - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def hurry(self) -> None:
        """Cut the pauses short, from now on."""
        self._pauses_end.set()

    def _last(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while True:
            began = time.monotonic()
            try:
                self._work()
                return
            except BaseException as error:
                # SystemExit too: a plug-in may call `sys.exit`.
                self._bury(error)
            if time.monotonic() - began > _LONGEST_PAUSE_S:
                pause_s = _FIRST_PAUSE_S
            self._pauses_end.wait(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _bury(self, error: BaseException) -> None:
        self.restarts += 1
        _log.error("a thread of the engine died and begins anew", exc_info=error)
        try:
            self._on_death(error)
        except BaseException:
            _log.exception("what it left behind cannot be put in order")
