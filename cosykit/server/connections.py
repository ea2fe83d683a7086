"""HTTP connections that nobody may hold for nothing."""

import asyncio
import math
import resource
from contextlib import suppress
from typing import Literal

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Beyond 64 Ki a crowd fills memory rather than the table of files, and old programs
# walk through the whole table.
_MOST_FILES = 1 << 16
_MOST_AT_ONCE = 2048


def allow_many_files() -> None:
    """Raise the limit of open files, and so of connections, as far as it goes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return
    with suppress(OSError, ValueError):  # macOS allows less than it says
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def most_connections() -> int:
    """Say how many connections may be open.

    An eighth of the files is for models, voices and encoders.
    """
    return _files() * 3 // 4


def most_at_once() -> int:
    """Say how many connections may come before the first of them can be closed."""
    return min(_files() // 8, _MOST_AT_ONCE)


def _files() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST_FILES if soft == resource.RLIM_INFINITY else soft


class Connection(H11Protocol):
    """A connection that is closed when it sends no request.

    It has uvicorn's `timeout_keep_alive` to send the whole head of one, from its first
    moment and from each answer on, and may fall silent for as long in a body. Before it
    is closed, it has at least as long to take what was sent. Where connections run out,
    the one that has been waited for longest makes room.
    """

    _waits_for: Literal["head", "body"] | None = None
    _due = math.inf
    _timer: asyncio.TimerHandle | None = None
    _is_leaving = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > most_connections():
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        if self.transport.get_protocol() is self:
            self._wait()
        else:
            # It has become a WebSocket; the timer would hold what is left of it, 8 KB.
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        if {b"content-length", b"transfer-encoding"} <= {
            name for name, _ in self.headers
        }:
            # A proxy may have taken what follows for a part of the body.
            self.transport.close()
        super().on_response_complete()
        self._waits_for = None
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        super().connection_lost(exc)
        self._stop_waiting()

    def _stop_waiting(self) -> None:
        self._due = math.inf
        if self._timer:
            self._timer.cancel()

    def _wait(self) -> None:
        """See what is waited for now; a head that trickles in gains no time."""
        before, self._waits_for = self._waits_for, self._missing()
        if self._waits_for is None:
            self._due = math.inf
        elif self._waits_for == "body" or before != self._waits_for:
            self._due = self.loop.time() + self.timeout_keep_alive
        if self._timer is None:
            self._set_timer()

    def _set_timer(self) -> None:
        # An answer under way may break off, of which nobody tells us.
        at = min(self._due, self.loop.time() + self.timeout_keep_alive)
        self._timer = self.loop.call_at(at, self._look_again)

    def _missing(self) -> Literal["head", "body"] | None:
        if self.cycle is None or self.cycle.response_complete:
            return "head"
        return "body" if self.conn.their_state is h11.SEND_BODY else None

    def _look_again(self) -> None:
        self._timer = None
        is_late = self._due <= self.loop.time()
        if self._is_leaving or (is_late and self._waits_for == "body"):
            self.transport.abort()
            return
        if is_late or self.transport.is_closing():
            # What it has not read yet of its last answer is sent first.
            self.transport.close()
            self._is_leaving = True
            self._due = math.inf
        self._set_timer()

    def _make_room(self) -> None:
        others = (
            each
            for each in self.connections
            if isinstance(each, Connection) and each is not self
        )
        longest = min(others, key=lambda each: each._due, default=None)
        if longest and longest._due < math.inf:
            longest.transport.abort()
