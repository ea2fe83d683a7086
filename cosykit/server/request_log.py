"""One log line and one count a request; its id in every line and in the answer."""

import logging
import re
import time
from contextlib import suppress
from contextvars import ContextVar
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cosykit.server.metrics import Metrics

_log = logging.getLogger("cosykit.access")

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="-")
"""Id of the request that the current task, or the engine's turn, is about."""

KEY_NAME: ContextVar[str] = ContextVar("key_name", default="")
"""Name of the key that it showed, where that has one."""

_SAFE_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)
# What begins an answer; that of a WebSocket without a status is 101, and it goes on.
_BEGINNINGS = (
    "http.response.start",
    "websocket.http.response.start",
    "websocket.accept",
)
_SWITCHED = 101
_ENDS = ("http.response.body", "websocket.http.response.body")
_PROBES = ("/health", "/ready", "/metrics")
_METHODS = ("GET", "HEAD", "POST", "DELETE", "OPTIONS", "WS")


class RequestLog:
    """Middleware that logs requests without their texts."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and log how it ended."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        # Never reset: uvicorn logs in this task after we returned.
        REQUEST_ID.set(request_id)
        KEY_NAME.set("")
        began, status, noted = time.perf_counter(), 0, False

        def note() -> None:
            nonlocal noted
            if not noted:
                self._note(scope, status, time.perf_counter() - began)
            noted = True

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] in _BEGINNINGS:
                status = message.get("status", _SWITCHED)
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"x-request-id", request_id.encode("ascii")),
                ]
            elif message["type"] == "websocket.close":
                status = status or 403
            elif message["type"] in _ENDS and not message.get("more_body"):
                # Whoever has the whole answer finds it in the metrics.
                note()
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        except Exception:
            # It has been answered. Passed on, it would close the connection under the
            # client's next request.
            _log.exception("the server failed")
            if status == _SWITCHED:
                with suppress(OSError, RuntimeError):  # it is closed already
                    await send({"type": "websocket.close", "code": 1011})
        finally:
            note()

    def _note(self, scope: Scope, status: int, elapsed_s: float) -> None:
        # 499 is nginx's number for a client that went away before the answer.
        status = status or 499
        # Paths and methods that we do not know could be anything, and endless.
        route = getattr(scope.get("route"), "path", "unknown")
        method = scope.get("method", "WS")
        method = method if method in _METHODS else "unknown"
        note_answer(self._metrics, route, status, elapsed_s, method)


def note_answer(
    metrics: Metrics, route: str, status: int | str, elapsed_s: float, method: str = ""
) -> None:
    """Count an answer of any protocol and log it, for machines field by field."""
    metrics.requests.labels(route=route, status=status).inc()
    # Machines ask for these all night.
    level = logging.DEBUG if route in _PROBES else logging.INFO
    asked, elapsed_ms = f"{method} {route}".lstrip(), round(1000 * elapsed_s)
    fields = {
        "method": method,
        "route": route,
        "status": status,
        "elapsed_ms": elapsed_ms,
    }
    _log.log(level, "%s %s %d ms", asked, status, elapsed_ms, extra={"fields": fields})


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            return safe_id(value.decode("latin-1"))
    return safe_id("")


def safe_id(given: str) -> str:
    """Take the client's own id where it is harmless, else make one."""
    return given if _SAFE_ID.fullmatch(given) else uuid4().hex
