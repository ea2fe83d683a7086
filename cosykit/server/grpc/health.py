"""Whether the model serves, told as grpc.health.v1 asks for it.

The servicer that comes with grpcio-health-checking leaves calls unanswered that end
before their message, and watchers would hold a server that closes.
"""

import asyncio
from collections.abc import Sequence

from grpc_health.v1 import health_pb2 as messages

from cosykit.errors import NotFoundError, quoted
from cosykit.server.configured import State
from cosykit.server.grpc.call import Call, Method
from cosykit.server.service import SpeechService

SERVICE = "grpc.health.v1.Health"

_Status = messages.HealthCheckResponse


class Health:
    """Follows the state of the service.

    Args:
        name: The service whose health is asked for, besides that of the whole server.
    """

    def __init__(self, service: SpeechService, name: str) -> None:
        self._service = service
        self._names = ("", name)
        self._state: State = "loading"
        self._change = asyncio.Event()
        service.configured.watch_state(self._note)

    @property
    def methods(self) -> Sequence[Method]:
        """What can be asked."""
        return (
            Method("Check", self._check, guarded=False),
            Method("Watch", self._watch, guarded=False),
        )

    async def _check(self, call: Call) -> None:
        request = await call.read_first(messages.HealthCheckRequest)
        if request.service not in self._names:
            raise NotFoundError(
                f"there is no service {quoted(request.service)}",
                hint="Leave the name out to ask about the whole server",
            )
        await call.write(_Status(status=self._status()))

    async def _watch(self, call: Call) -> None:
        request = await call.read_first(messages.HealthCheckRequest)
        is_known = request.service in self._names
        told = None
        while True:
            change = self._change
            status = self._status() if is_known else _Status.SERVICE_UNKNOWN
            if status != told:
                await call.write(_Status(status=status))
                told = status
            await change.wait()

    def _status(self) -> int:
        serves = self._state == "ready" and not self._service.closing.is_set()
        return int(_Status.SERVING if serves else _Status.NOT_SERVING)

    def close(self) -> None:
        """Tell those who watch that the server closes."""
        self._stir()

    def _note(self, state: State) -> None:
        self._state = state
        self._stir()

    def _stir(self) -> None:
        change, self._change = self._change, asyncio.Event()
        change.set()
