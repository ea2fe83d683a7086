"""The port of gRPC: the service, its health, and what reflection tells of it."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

import grpc
import grpc.aio
from grpc_reflection.v1alpha import reflection

from cosykit.errors import ResourceError
from cosykit.server.grpc import health
from cosykit.server.grpc import speech_pb2 as messages
from cosykit.server.grpc.call import Method, UnderWay
from cosykit.server.grpc.health import Health
from cosykit.server.grpc.methods import list_voices, synthesize
from cosykit.server.grpc.stream import stream_tts
from cosykit.server.listener import listen
from cosykit.server.service import SpeechService

SERVICE = messages.DESCRIPTOR.services_by_name["Speech"].full_name

_METHODS = (
    Method("Synthesize", synthesize),
    Method("StreamTTS", stream_tts),
    Method("ListVoices", list_voices, counted=False),
)
# Of one connection, and of all together; what they ask for waits in the engine's queue.
_MOST_STREAMS = 100
_MOST_CALLS = 1000
# For the statuses of calls that are broken off.
_LAST_MOMENT_S = 1.0
# Whoever does not answer a ping in time has gone without a word.
_PING_EVERY_MS = 30_000


class GrpcPort:
    """Serves gRPC.

    Attributes:
        port: The TCP port.
    """

    def __init__(self, service: SpeechService) -> None:
        self.port = 0
        self._service = service
        self._health = Health(service, SERVICE)
        self._under_way = UnderWay()
        self._server = grpc.aio.server(
            options=self._options(), maximum_concurrent_rpcs=_MOST_CALLS
        )

    @classmethod
    async def open(cls, service: SpeechService, port: int) -> Self:
        """Listen on a port; 0 takes any free one.

        Raises:
            ResourceError: It cannot be listened on.
        """
        opened = cls(service)
        opened._offer()
        opened._listen(service.settings.server.host, port)
        await opened._server.start()
        return opened

    async def drain(self, grace_s: float) -> None:
        """Refuse newcomers, let the others end within the grace, and close."""
        self._health.close()
        # Newcomers are refused by their calls: gRPC would cancel some without a word.
        for patience_s in (grace_s, _LAST_MOMENT_S):
            with suppress(TimeoutError):
                async with asyncio.timeout(patience_s):
                    await self._under_way.wait_for_none()
            self._under_way.break_off()
        # What is left are those who watch the health, and they never leave.
        await self._server.stop(None)

    def _options(self) -> list[tuple[str, int]]:
        server = self._service.settings.server
        silence_ms = round(server.silence_s * 1000)
        return [
            ("grpc.so_reuseport", 0),
            ("grpc.max_receive_message_length", server.max_body_mb << 20),
            ("grpc.max_concurrent_streams", _MOST_STREAMS),
            ("grpc.server_handshake_timeout_ms", silence_ms),
            ("grpc.max_connection_idle_ms", silence_ms),
            ("grpc.keepalive_time_ms", _PING_EVERY_MS),
            ("grpc.keepalive_timeout_ms", _PING_EVERY_MS),
        ]

    def _offer(self) -> None:
        self._add(SERVICE, _METHODS, self._under_way)
        # Nobody waits for the end of a call that watches.
        self._add(health.SERVICE, self._health.methods, UnderWay())
        names = (SERVICE, health.SERVICE, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, self._server)

    def _add(self, name: str, methods: Sequence[Method], under_way: UnderWay) -> None:
        handlers = {
            method.name: method.handler(self._service, under_way) for method in methods
        }
        handler = grpc.method_handlers_generic_handler(name, handlers)
        self._server.add_generic_rpc_handlers((handler,))

    def _listen(self, host: str, port: int) -> None:
        # gRPC binds the port itself, but says nothing of use when it cannot.
        with listen(host, port, "server.grpc_port") as tried:
            place, port = tried.getsockname()[:2]
        address = f"[{place}]:{port}" if ":" in place else f"{place}:{port}"
        try:
            self.port = self._server.add_insecure_port(address)
        except RuntimeError as error:
            raise ResourceError(
                f"gRPC cannot listen on {address}",
                hint="Choose another server.grpc_port",
            ) from error
