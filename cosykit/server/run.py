"""Listen on the configured port until a signal comes."""

import errno
import logging
import math
import signal
import socket
from types import FrameType

import uvicorn

from cosykit.config.schema import ServerSettings, Settings
from cosykit.errors import CosykitError, ResourceError
from cosykit.server.app import create_app
from cosykit.server.logs import configure_logging
from cosykit.server.service import SpeechService

_log = logging.getLogger(__name__)


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM, then finish what runs and return.

    Raises:
        ResourceError: The address cannot be listened on.
        CosykitError: The model cannot be loaded.
    """
    configure_logging(settings.log)
    with open_listener(settings.server) as listener:
        # uvicorn drains on a signal, then raises it again; this keeps the exit code 0.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _ignore)
        host, port = listener.getsockname()[:2]
        _log.info("listening on http://%s:%d (try it there, API on /docs)", host, port)
        failure = _run(settings, listener)
    if failure:
        raise failure


def _run(settings: Settings, listener: socket.socket) -> CosykitError | None:
    """Run the server; give the reason when it ended for want of a model."""

    def stop() -> None:
        server.should_exit = True

    service = SpeechService(settings, on_failure=stop)
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(service),
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=math.ceil(settings.server.grace_s),
        )
    )
    server.run(sockets=[listener])
    return service.failure


def _ignore(number: int, frame: FrameType | None) -> None:
    """Do nothing."""


def open_listener(server: ServerSettings) -> socket.socket:
    """Bind the address.

    Raises:
        ResourceError: It is in use, not ours, or not to be had without privileges.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            server.host, server.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        raise ResourceError(
            f"cannot listen on {server.host}:{server.port}: {error.strerror or error}",
            hint=_remedy(error),
        ) from error
    return listener


def _remedy(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "Stop the program that has the port, or choose another with --port"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "Ports below 1024 need privileges; choose another with --port"
    return "Check server.host: it has to be an address of this machine"
