"""A client of our own WebSocket that writes down what it hears."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from cosykit.server.websocket_speech import PATH
from tests.patience import PATIENCE_S
from tests.server.conftest import Running

Message = Mapping[str, object]


@dataclass
class Speaker:
    """A client that writes down what it hears."""

    socket: ClientConnection
    told: list[Message] = field(default_factory=list)
    audio: bytearray = field(default_factory=bytearray)

    async def say(self, kind: str, **fields: object) -> None:
        await self.send(json.dumps({"type": kind, **fields}))

    async def send(self, message: str | bytes) -> None:
        # Why the server has closed is heard later.
        with suppress(ConnectionClosed):
            await self.socket.send(message)

    async def hear(self) -> Message | bytes:
        async with asyncio.timeout(PATIENCE_S):
            heard = await self.socket.recv()
        if isinstance(heard, bytes):
            self.audio += heard
            return heard
        message: Message = json.loads(heard)
        self.told.append(message)
        return message

    async def hear_until(self, kind: str) -> Message:
        while True:
            heard = await self.hear()
            if not isinstance(heard, bytes) and heard["type"] == kind:
                return heard

    async def hear_close(self) -> int:
        """Listen until the server closes; give its code."""
        try:
            while True:
                await self.hear()
        except ConnectionClosed as closed:
            assert closed.rcvd
            return closed.rcvd.code

    def kinds(self) -> Sequence[object]:
        return [message["type"] for message in self.told]

    def texts(self) -> Sequence[object]:
        return [each["text"] for each in self.told if each["type"] == "sentence_begin"]


@asynccontextmanager
async def connected(
    server: Running,
    *,
    headers: Mapping[str, str] | None = None,
    subprotocols: Sequence[str] | None = None,
) -> AsyncGenerator[Speaker]:
    url = f"ws://127.0.0.1:{server.port}{PATH}"
    async with connect(
        url,
        additional_headers=headers,
        subprotocols=[*map(Subprotocol, subprotocols)] if subprotocols else None,
        proxy=None,
        max_size=None,
    ) as socket:
        yield Speaker(socket)
