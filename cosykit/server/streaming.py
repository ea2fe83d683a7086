"""Answers that are made while their client listens, and end when it goes away."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TypeVar

from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from cosykit.errors import CosykitError, SilenceError

Result = TypeVar("Result")


async def while_connected(
    receive: Receive, work: Coroutine[object, object, Result]
) -> Result:
    """Do some work for a client; cancel it when the client goes away.

    Args:
        receive: The connection's, whose request has been read.

    Raises:
        ClientDisconnect: The client went away first.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_wait_until_gone(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return await working
    finally:
        working.cancel()
        leaving.cancel()
        # The work ends in its own time: an encoder cannot be stopped half-way.
        await asyncio.wait({working, leaving})


async def _wait_until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


@asynccontextmanager
async def taken_within(patience_s: float) -> AsyncGenerator[None]:
    """Send something, as soon as the client takes more.

    Raises:
        SilenceError: It takes nothing for so long that it must be gone.
    """
    try:
        async with asyncio.timeout(patience_s):
            yield
    except TimeoutError:
        raise SilenceError(
            f"nothing was taken for {patience_s:g} s", hint="Read what is sent"
        ) from None


class AudioResponse(StreamingResponse):
    """Streams a body and closes it at once when the client goes away.

    A body that fails breaks the connection off without its closing chunk: the client
    sees that the audio is not whole.

    Args:
        patience_s: A client that takes nothing for so long is taken to be gone.
    """

    def __init__(
        self,
        body: AsyncGenerator[bytes],
        media_type: str,
        headers: Mapping[str, str],
        patience_s: float,
    ) -> None:
        super().__init__(body, headers=headers, media_type=media_type)
        self._body = body
        self._patience_s = patience_s
        # Proxies that buffer would hold the first audio back.
        self.headers["X-Accel-Buffering"] = "no"
        self.headers["Cache-Control"] = "no-store"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the body."""

        async def send_in_time(message: Message) -> None:
            try:
                async with asyncio.timeout(self._patience_s):
                    await send(message)
            except TimeoutError:
                raise ClientDisconnect from None

        async with aclosing(self._body):
            # An error of the speech has been noted where it came up; only a server
            # that stops cancels.
            with suppress(ClientDisconnect, CosykitError, asyncio.CancelledError):
                await while_connected(receive, self.stream_response(send_in_time))
