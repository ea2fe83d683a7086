"""WebSockets of every protocol: whom they are open to, and how they end."""

from asyncio import BaseTransport, Task, TimerHandle
from base64 import urlsafe_b64decode
from types import MappingProxyType
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import (
    WebSocketsSansIOProtocol,
)
from websockets.frames import CloseCode, Frame

from cosykit.config.schema import ServerSettings
from cosykit.errors import (
    AccessError,
    BusyError,
    CosykitError,
    InputError,
    OriginError,
    RateLimitError,
    SilenceError,
    TooLargeError,
    UnsupportedMediaError,
)
from cosykit.server.admission import Client
from cosykit.server.service import SpeechService

# The first that fits, so a kind stands before what it is a kind of.
_CLOSE_CODES: tuple[tuple[type[CosykitError], CloseCode], ...] = (
    (AccessError, CloseCode.POLICY_VIOLATION),
    (OriginError, CloseCode.POLICY_VIOLATION),
    (SilenceError, CloseCode.POLICY_VIOLATION),
    (TooLargeError, CloseCode.MESSAGE_TOO_BIG),
    (UnsupportedMediaError, CloseCode.UNSUPPORTED_DATA),
    (InputError, CloseCode.INVALID_DATA),
    (RateLimitError, CloseCode.TRY_AGAIN_LATER),
    (BusyError, CloseCode.TRY_AGAIN_LATER),
)
_MOST_FRAGMENTS = 1 << 14
_NO_HANDSHAKE = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
_PORTS = MappingProxyType({"http": 80, "https": 443})

PROTOCOL = "cosykit"
"""The subprotocol of pages, which have to name one beside their key."""
_KEY_PREFIX = "cosykit.key."


class SocketConnection(WebSocketsSansIOProtocol):
    """A WebSocket whose application may still speak when the server closes.

    The application hears of it as of a client that leaves with code 1012, and may go on
    sending. A client has uvicorn's `timeout_keep_alive` to take what was sent last.
    """

    _timer: TimerHandle | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        """Begin."""
        # Its lines of debugging hold keys and texts.
        self.conn.debug = False
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        super().connection_lost(exc)
        if self._timer:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Take a part of the handshake or of messages."""
        super().data_received(data)
        if self.conn.handshake_exc and not self.handshake_initiated:
            # It has a body, or too many headers. uvicorn would hold it for ever, and
            # fail to shut down.
            self.handshake_complete = self.close_sent = True
            told = b"".join(self.conn.data_to_send())
            self.transport.write(told or _NO_HANDSHAKE)
            self.transport.close()

    def handle_ping(self) -> None:
        """Answer a ping of a client that takes what is sent."""
        answers = self.conn.data_to_send()
        # Else the answers would fill the memory.
        if self.writable.is_set():
            self.transport.write(b"".join(answers))

    def handle_cont(self, event: Frame) -> None:
        """Take a part of a message that is cut in pieces."""
        if self.close_sent:
            return
        if len(self.frames) < _MOST_FRAGMENTS:
            super().handle_cont(event)
        else:
            # The limit of a message's size does not count empty ones.
            self.conn.fail(CloseCode.MESSAGE_TOO_BIG, "the message has too many pieces")
            self.handle_parser_exception()

    async def send(self, message: ASGISendEvent) -> None:
        """Send what the application says."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            # uvicorn would miss the handshake, and log an error.
            self.handshake_complete = self.close_sent

    def on_task_complete(self, task: Task[None]) -> None:
        """Let go of a client that takes nothing, once its application has ended."""
        super().on_task_complete(task)
        if not self.disconnected:
            patience_s = self.config.timeout_keep_alive
            self._timer = self.loop.call_later(patience_s, self.transport.abort)

    def shutdown(self) -> None:
        """Say that the server closes."""
        if self.handshake_complete and not self.close_sent:
            code = CloseCode.SERVICE_RESTART
            self.queue.put_nowait({"type": "websocket.disconnect", "code": code})
        else:
            super().shutdown()

    def send_receive_event_to_app(self) -> None:
        """Hand a message on, if it is one."""
        # uvicorn would log a traceback.
        if self.curr_msg_data_type == "text" and not _is_utf8(b"".join(self.frames)):
            self.conn.fail(CloseCode.INVALID_DATA, "a text message is not UTF-8")
            self.handle_parser_exception()
            return
        super().send_receive_event_to_app()


def _is_utf8(message: bytes) -> bool:
    try:
        message.decode()
    except UnicodeDecodeError:
        return False
    return True


def admitted(connection: HTTPConnection, service: SpeechService) -> Client:
    """Recognise who opens a socket.

    Raises:
        OriginError: It is a page of a site that is not let in.
        AccessError: Keys are configured, and it shows none of them.
        RateLimitError: Its address has guessed too often.
    """
    check_origin(connection, service.settings.server)
    address = connection.client.host if connection.client else ""
    return service.admission.recognise(_shown_key(connection), address)


def _shown_key(connection: HTTPConnection) -> str | None:
    """Find the key in the header or, of a page, which cannot set it, in a subprotocol.

    Addresses are logged by proxies, so none is looked for there.
    """
    scheme, _, key = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return key.strip()
    for protocol in connection.scope.get("subprotocols", ()):
        if protocol.startswith(_KEY_PREFIX):
            return _decoded(protocol.removeprefix(_KEY_PREFIX))
    return None


def _decoded(key: str) -> str | None:
    """Decode base64 of the alphabet for addresses, without its padding."""
    try:
        return urlsafe_b64decode(key + "=" * (-len(key) % 4)).decode()
    except ValueError:
        return None


def close_code_of(error: CosykitError) -> CloseCode:
    """Choose the code that tells a program of a failure."""
    fitting = (code for kind, code in _CLOSE_CODES if isinstance(error, kind))
    return next(fitting, CloseCode.INTERNAL_ERROR)


def check_origin(connection: HTTPConnection, server: ServerSettings) -> None:
    """Keep the pages of other sites out, as browsers do where no socket is asked for.

    Raises:
        OriginError: A page asks that is neither ours nor of a configured origin.
    """
    origin = connection.headers.get("origin")
    if origin is None or {"*", origin} & set(server.cors_origins):
        return
    if not _is_same_site(origin, connection.headers.get("host", "")):
        raise OriginError(
            f"pages of {origin[:128]} may not use this server",
            hint="Name their origin in server.cors_origins",
        )


def _is_same_site(origin: str, host: str) -> bool:
    try:
        page, here = urlsplit(origin), urlsplit(f"{urlsplit(origin).scheme}://{host}")
        usual = _PORTS.get(page.scheme)
        ports = (page.port or usual, here.port or usual)
    except ValueError:  # a port that is no number
        return False
    return (
        bool(page.hostname) and page.hostname == here.hostname and ports[0] == ports[1]
    )
