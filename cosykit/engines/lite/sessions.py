"""The graph in two sessions: for a run by itself, and for runs beside each other."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from cosykit.errors import ModelLoadError
from cosykit.runtime.session import Cancellation, Session, Tensor

_log = logging.getLogger(__name__)


class Sessions:
    """Runs the graph on all threads where a run is alone, on few in company.

    Runs that share the threads of a session wait for each other: on two cores, two of
    them made 2.9 s of speech a second, runs one after the other 3.1 s, and two runs of
    one thread each 4.2 s. But one alone takes 1.3 s with one thread, and 0.8 s with
    two. All give the same samples.

    Args:
        alone: The session with all threads.
        for_company: Opens the other one, when it is needed first: it takes 150 MB. None
            where there is never any company.
    """

    def __init__(
        self, alone: Session, for_company: Callable[[], Session] | None
    ) -> None:
        self._alone, self._for_company = alone, for_company
        self._company: Session | None = None
        self._runs = 0
        self._counting = threading.Lock()
        self._opening = threading.Lock()

    def cancellation(self) -> Cancellation:
        """Make the means to end runs."""
        return self._alone.cancellation()

    def run(
        self,
        feeds: Mapping[str, Tensor],
        outputs: Sequence[str],
        cancellation: Cancellation,
    ) -> list[Tensor]:
        """Run the graph once; any number of threads may do so at once.

        Raises:
            RunCancelledError: The cancellation was requested.
        """
        with self._suitable() as session:
            return session.run(feeds, outputs, cancellation)

    @contextmanager
    def _suitable(self) -> Iterator[Session]:
        with self._counting:
            is_alone = self._runs == 0
            self._runs += 1
        try:
            yield self._alone if is_alone else self._opened()
        finally:
            with self._counting:
                self._runs -= 1

    def _opened(self) -> Session:
        """Give the session for company, once it is open."""
        with self._opening:
            if self._company is None:
                self._company = self._open()
            return self._company

    def _open(self) -> Session:
        if self._for_company is None:
            return self._alone
        try:
            return self._for_company()
        except ModelLoadError as error:
            # Slower, but it speaks.
            _log.warning("requests share one session of the embedded voice: %s", error)
            return self._alone
