"""The ports beside that of HTTP, for the protocols that need their own."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack, asynccontextmanager
from typing import Protocol

from cosykit.config.schema import ServerSettings
from cosykit.errors import CosykitError
from cosykit.server.listener import listen
from cosykit.server.service import SpeechService

_log = logging.getLogger(__name__)


class Port(Protocol):
    """Serves a protocol on a port of its own."""

    port: int

    async def drain(self, grace_s: float) -> None:
        """Refuse newcomers, let the others end within the grace, and close."""


def check_ports(server: ServerSettings) -> None:
    """Find out, before anything is served, whether `further_ports` can listen.

    Raises:
        ConfigError: Keys are configured, which clients of Wyoming cannot show.
        ResourceError: One cannot be listened on.
    """
    ports = {"grpc_port": server.grpc_port, "wyoming_port": server.wyoming_port}
    with ExitStack() as taken:
        for name, port in ports.items():
            if port != "off":
                taken.enter_context(listen(server.host, port, f"server.{name}"))
    if server.wyoming_port != "off":
        from cosykit.server.wyoming.port import check_access

        check_access(server)


@asynccontextmanager
async def further_ports(service: SpeechService) -> AsyncGenerator[None]:
    """Serve gRPC and Wyoming, where they are configured, until the service closes.

    One that cannot be listened on is a failure of the service.
    """
    ports: list[Port] = []
    try:
        await _open(service, ports)
    except CosykitError as error:
        service.configured.fail(error)
    draining = asyncio.create_task(_drain(service, ports))
    try:
        yield
    finally:
        service.closing.set()
        await draining


async def _open(service: SpeechService, ports: list[Port]) -> None:
    server = service.settings.server
    if server.grpc_port != "off":
        # Whoever does not ask for it does not pay for importing it.
        from cosykit.server.grpc.port import GrpcPort

        ports.append(await GrpcPort.open(service, server.grpc_port))
        service.ports["grpc"] = ports[-1].port
        _log.info("gRPC on port %d", ports[-1].port)
    if server.wyoming_port != "off":
        from cosykit.server.wyoming.port import WyomingPort

        ports.append(await WyomingPort.open(service, server.wyoming_port))
        service.ports["wyoming"] = ports[-1].port
        _log.info("Wyoming on port %d", ports[-1].port)


async def _drain(service: SpeechService, ports: Sequence[Port]) -> None:
    """Let them end together with HTTP, rather than after it."""
    await service.closing.wait()
    grace_s = service.settings.server.grace_s
    await asyncio.gather(*(port.drain(grace_s) for port in ports))
