"""Our own WebSocket: a text is spoken while it is written.

    client: start  text text … [flush] [interrupt] …  finish        start …
    server:  started  sentence_begin audio … sentence_end …  finished     started …

Messages are JSON in text frames, audio comes in binary ones. An error is told, and then
the connection is closed. While the server closes, what has come is spoken to its end.
"""

import asyncio
import time
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.frames import CloseCode

from cosykit.errors import (
    BusyError,
    CosykitError,
    InputError,
    SilenceError,
    UnsupportedMediaError,
)
from cosykit.server.admission import Client
from cosykit.server.discretion import discreet
from cosykit.server.live import LiveSpeech
from cosykit.server.service import SpeechService
from cosykit.server.speech import Output
from cosykit.server.websocket import PROTOCOL, admitted, close_code_of
from cosykit.server.websocket_messages import (
    ClientMessage,
    Failed,
    Finish,
    Finished,
    Flush,
    Interrupt,
    ServerMessage,
    Start,
    Started,
    Text,
    read,
    told,
)

PATH = "/v1/audio/speech/ws"


async def speak(socket: WebSocket, service: SpeechService) -> None:
    """Handle a connection to `/v1/audio/speech/ws`."""
    is_offered = PROTOCOL in socket.scope["subprotocols"]
    # Browsers show their pages nothing of a refusal, so access is refused in words.
    await socket.accept(PROTOCOL if is_offered else None)
    # A client that leaves is told no more, nor one that takes nothing while the server
    # ends.
    with suppress(WebSocketDisconnect, asyncio.CancelledError):
        await _Conversation(socket, service).hold()


class _Conversation:
    """Answers the messages of one connection."""

    def __init__(self, socket: WebSocket, service: SpeechService) -> None:
        self._socket, self._service = socket, service
        self._live: LiveSpeech | None = None
        self._speaking: asyncio.Task[None] | None = None
        # When either side last said something.
        self._stirred_at = time.monotonic()
        self._has_begun = False

    async def hold(self) -> None:
        """Talk until the client leaves, something fails or the server closes.

        Raises:
            WebSocketDisconnect: The client has gone.
        """
        code = CloseCode.SERVICE_RESTART
        try:
            client = admitted(self._socket, self._service)
            await self._answer_messages(client)
            await self._speak_to_the_end()
        except CosykitError as error:
            code = await self._fail(error)
        except asyncio.CancelledError:
            # Nobody but a server whose grace has run out cancels.
            await self._fail(BusyError("the server is closing", hint="Try again later"))
        finally:
            await self._stop_speaking()
        await self._socket.close(code)

    async def _answer_messages(self, client: Client) -> None:
        """Answer until the server closes."""
        receiving = asyncio.create_task(self._receive())
        try:
            while True:
                await self._wait_for(receiving)
                if self._speaking and self._speaking.done():
                    ended, self._live, self._speaking = self._speaking, None, None
                    ended.result()
                if receiving.done():
                    message = receiving.result()
                    if message is None:
                        return
                    self._stirred_at = time.monotonic()
                    await self._answer(read(message), client)
                    receiving = asyncio.create_task(self._receive())
        finally:
            receiving.cancel()
            await asyncio.gather(receiving, return_exceptions=True)

    async def _wait_for(self, receiving: "asyncio.Task[str | None]") -> None:
        """Wait for a message or the end of a speech.

        Raises:
            SilenceError: Neither comes, nor anything else.
        """
        settings = self._service.settings
        awaited = {receiving, self._speaking} if self._speaking else {receiving}
        while True:
            patience_s = settings.server.silence_s
            if self._has_begun:
                patience_s = settings.engine.timeout_s
            left_s = self._stirred_at + patience_s - time.monotonic()
            done, _ = await asyncio.wait(
                awaited, timeout=left_s, return_when=asyncio.FIRST_COMPLETED
            )
            if done:
                return
            # It may have spoken meanwhile.
            if time.monotonic() >= self._stirred_at + patience_s:
                raise SilenceError(
                    f"nothing was sent for {patience_s:g} s",
                    hint="Send text while it is written, and close what is not used",
                )

    async def _answer(self, message: ClientMessage, client: Client) -> None:
        match message:
            case Start():
                await self._start(message, client)
            case Text(text=text):
                self._speech().feed(text)
            case Flush():
                self._speech().flush()
            case Interrupt():
                self._speech().interrupt()
            case Finish():
                self._speech().finish()

    def _speech(self) -> LiveSpeech:
        if self._live is None:
            raise InputError("no speech has been started", hint="Send start first")
        return self._live

    async def _start(self, start: Start, client: Client) -> None:
        if self._live:
            raise InputError(
                "the speech before has not ended", hint="Wait for finished"
            )
        self._service.admission.count(client)
        out = Output.chosen(
            start.response_format, start.sample_rate, self._service.settings.audio
        )
        manner = await start.manner(client)
        self._live = LiveSpeech(self._service, manner, out, start.model)
        self._speaking = asyncio.create_task(self._speak(self._live))
        self._has_begun = True

    async def _speak(self, live: LiveSpeech) -> None:
        async with live.started() as events:
            started = Started(
                media_type=live.media_type,
                sample_rate=live.sample_rate,
                model=live.model,
            )
            await self._tell(started)
            async for event in events:
                await self._tell(told(event))
        await self._tell(Finished(duration_s=round(live.duration_s, 3)))

    async def _speak_to_the_end(self) -> None:
        if self._live and self._speaking:
            self._live.finish()
            await self._speaking

    async def _stop_speaking(self) -> None:
        if self._speaking:
            self._speaking.cancel()
            await asyncio.gather(self._speaking, return_exceptions=True)

    async def _fail(self, error: CosykitError) -> CloseCode:
        """Tell of a failure, with no audio after it."""
        self._service.note_failure(error)
        await self._stop_speaking()
        await self._tell(Failed.of(discreet(error, self._service.settings.models_dir)))
        return close_code_of(error)

    async def _receive(self) -> str | None:
        """Wait for a message; None where the server closes.

        Raises:
            WebSocketDisconnect: The client has gone.
            UnsupportedMediaError: The message is binary.
        """
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            if self._service.closing.is_set():
                return None
            raise WebSocketDisconnect(message["code"])
        text: str | None = message.get("text")
        if text is None:
            raise UnsupportedMediaError(
                "the message is binary", hint="Send JSON in text frames"
            )
        return text

    async def _tell(self, what: ServerMessage | bytes) -> None:
        """Send a message or audio.

        Raises:
            WebSocketDisconnect: The client has gone, or takes nothing any more.
        """
        try:
            async with asyncio.timeout(self._service.settings.engine.timeout_s):
                if isinstance(what, bytes):
                    await self._socket.send_bytes(what)
                else:
                    await self._socket.send_text(what.model_dump_json())
        except TimeoutError:
            raise WebSocketDisconnect(CloseCode.ABNORMAL_CLOSURE) from None
        self._stirred_at = time.monotonic()
