"""Listen on the configured port until a signal comes."""

import errno
import logging
import math
import signal
import socket
from types import FrameType

import uvicorn

from cosykit.config.schema import ServerSettings, Settings
from cosykit.errors import ResourceError
from cosykit.server.app import create_app
from cosykit.server.logs import configure_logging
from cosykit.server.service import SpeechService

_log = logging.getLogger(__name__)

# Connections that wait to be accepted.
_BACKLOG = 2048


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM, then finish what runs and return.

    Raises:
        ResourceError: The address cannot be listened on.
        CosykitError: The model cannot be loaded.
    """
    configure_logging(settings.log)
    with open_listener(settings.server) as listener:

        def stop(number: int = 0, frame: FrameType | None = None) -> None:
            server.should_exit = True

        service = SpeechService(settings, on_failure=stop)
        server = create_server(service)
        # uvicorn drains on a signal, and raises it again when it has; it is to come
        # to nothing then, but not before uvicorn listens to signals.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        _log.info("listening on %s (try it there, API on /docs)", _address(listener))
        server.run(sockets=[listener])
    if service.failure:
        raise service.failure


def create_server(service: SpeechService) -> uvicorn.Server:
    """Put the application behind uvicorn."""
    return uvicorn.Server(
        uvicorn.Config(
            create_app(service),
            http="h11",
            ws="none",
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=math.ceil(service.settings.server.grace_s),
        )
    )


def open_listener(server: ServerSettings) -> socket.socket:
    """Listen on the address.

    Raises:
        ResourceError: It is in use, not ours, or not to be had without privileges.
    """
    try:
        found = socket.getaddrinfo(
            server.host, server.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        # `localhost` may have two addresses; every client finds the older kind.
        family, _, _, _, address = min(found, key=lambda each: each[0])
        return socket.create_server(
            address,
            family=family,
            backlog=_BACKLOG,
            dualstack_ipv6=family == socket.AF_INET6 and socket.has_dualstack_ipv6(),
        )
    except (OSError, UnicodeError) as error:
        # Python repeats the address behind the reason.
        reason = str(getattr(error, "strerror", error)).partition(" (while")[0]
        raise ResourceError(
            f"cannot listen on {server.host}:{server.port}: {reason}",
            hint=_remedy(error),
        ) from error


def _remedy(error: OSError | UnicodeError) -> str:
    match getattr(error, "errno", None):
        case errno.EADDRINUSE:
            return "Stop the program that has the port, or choose another with --port"
        case errno.EACCES | errno.EPERM:
            return "Ports below 1024 need privileges; choose another with --port"
        case _:
            return "Check server.host: it has to be an address of this machine"


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
