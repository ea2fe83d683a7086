"""A client that sends what no client library would."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from tests.patience import PATIENCE_S


def request(
    body: bytes = b"",
    *headers: str,
    line: str = "POST /v1/audio/speech HTTP/1.1",
    with_length: bool = True,
) -> bytes:
    """Write a request by hand."""
    lines = [line, "Host: test", "Content-Type: application/json", *headers]
    if with_length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


class Wire:
    """A bare connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._unread = b""

    def send(self, content: bytes) -> None:
        self._connection.sendall(content)

    def read_until(self, mark: bytes) -> bytes:
        """Read up to a mark and give what stands before it."""
        while mark not in self._unread:
            part = self._connection.recv(65536)
            assert part, f"the server hung up after {self._unread!r}"
            self._unread += part
        before, _, self._unread = self._unread.partition(mark)
        return before

    def read_answer(self) -> tuple[int, bytes]:
        """Read an answer with a length; give its status and body."""
        head = self.read_until(b"\r\n\r\n").decode("latin-1").lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        while len(self._unread) < length:
            self._unread += self._connection.recv(65536)
        body, self._unread = self._unread[:length], self._unread[length:]
        return int(head.split()[1]), body

    def read_rest(self) -> bytes:
        """Read until the server hangs up."""
        while part := self._connection.recv(65536):
            self._unread += part
        return self._unread

    def break_off(self) -> None:
        """Go away without a word, as a killed process does."""
        self._connection.close()


@contextmanager
def wired(port: int, *, receive_buffer: int = 0) -> Iterator[Wire]:
    """Open a bare connection."""
    with socket.socket() as connection:
        connection.settimeout(PATIENCE_S)
        if receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.connect(("127.0.0.1", port))
        yield Wire(connection)
