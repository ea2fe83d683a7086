"""An answer whose body is made while it is sent."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send


class AudioResponse(StreamingResponse):
    """Streams a body and closes it at once when the client goes away.

    A body that fails breaks the connection off without its closing chunk: the client
    sees that the audio is not whole.
    """

    def __init__(self, body: AsyncGenerator[bytes], media_type: str) -> None:
        super().__init__(body, media_type=media_type)
        self._body = body
        # Proxies that buffer would hold the first audio back.
        self.headers["X-Accel-Buffering"] = "no"
        self.headers["Cache-Control"] = "no-store"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the body."""
        async with aclosing(self._body):
            await super().__call__(scope, receive, send)
