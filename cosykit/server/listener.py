"""Take a TCP port, or say why it is not to be had."""

import errno
import socket

from cosykit.errors import ResourceError

# Connections that wait to be accepted.
_BACKLOG = 2048


def listen(host: str, port: int, choice: str) -> socket.socket:
    """Listen on an address.

    Args:
        port: 0 takes any free one.
        choice: How another port is chosen, for messages.

    Raises:
        ResourceError: It is in use, not ours, or not to be had without privileges.
    """
    try:
        found = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        # `localhost` may have two addresses; every client finds the older kind.
        family, kind, protocol, _, address = min(found, key=lambda each: each[0])
        # Without the protocol, asyncio would not turn off Nagle's algorithm, which
        # holds small pieces back for 40 ms.
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
        except OSError:
            listener.close()
            raise
    except (OSError, UnicodeError) as error:
        raise ResourceError(
            f"cannot listen on {host}:{port}: {getattr(error, 'strerror', error)}",
            hint=_remedy(error, choice),
        ) from error
    return listener


def _remedy(error: OSError | UnicodeError, choice: str) -> str:
    match getattr(error, "errno", None):
        case errno.EADDRINUSE:
            return f"Stop the program that has the port, or choose another {choice}"
        case errno.EACCES | errno.EPERM:
            return f"Ports below 1024 need privileges; choose another {choice}"
        case _:
            return "Check server.host: it has to be an address of this machine"
