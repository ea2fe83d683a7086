"""The port of Wyoming, and the connections to it."""

import asyncio
from ipaddress import ip_address
from typing import Self

from cosykit.config.schema import ServerSettings
from cosykit.errors import ConfigError
from cosykit.server.listener import listen
from cosykit.server.service import SpeechService
from cosykit.server.wyoming.conversation import Conversation
from cosykit.server.wyoming.events import LONGEST_LINE_BYTES

# Each of a household needs one for as long as it speaks.
_MOST_CONNECTIONS = 1000


class WyomingPort:
    """Serves Wyoming.

    Attributes:
        port: The TCP port.
    """

    def __init__(self, service: SpeechService) -> None:
        self.port = 0
        self._service = service
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, service: SpeechService, port: int) -> Self:
        """Listen on a port; 0 takes any free one.

        Raises:
            ConfigError: See `check_access`.
            ResourceError: It cannot be listened on.
        """
        server = service.settings.server
        check_access(server)
        opened = cls(service)
        listener = listen(server.host, port, "server.wyoming_port")
        opened.port = listener.getsockname()[1]
        opened._server = await asyncio.start_server(
            opened._talk, sock=listener, limit=LONGEST_LINE_BYTES
        )
        return opened

    async def drain(self, grace_s: float) -> None:
        """Refuse newcomers, let the others end within the grace, and close."""
        if self._server:
            self._server.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_s)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _talk(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if len(self._tasks) >= _MOST_CONNECTIONS:
            writer.close()
            return
        task = asyncio.create_task(Conversation(reader, writer, self._service).hold())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def check_access(server: ServerSettings) -> None:
    """Refuse to let in from other machines whom keys are asked of.

    Raises:
        ConfigError: Keys are configured, which clients of Wyoming cannot show, and the
            host is not this machine alone.
    """
    if server.api_keys and not _is_loopback(server.host):
        raise ConfigError(
            "server.api_keys asks for keys, and clients of Wyoming have none",
            hint="Set server.wyoming_port: off, or let server.host be 127.0.0.1",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
