"""The WebSocket of DashScope: tasks one after another, as long as none fails."""

import asyncio
import time
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState
from websockets.frames import CloseCode

from cosykit.errors import CosykitError, InputError, SilenceError, quoted
from cosykit.server.admission import Client
from cosykit.server.beside import to_its_end
from cosykit.server.dashscope.failures import FailedAnswer
from cosykit.server.dashscope.messages import (
    AboutTask,
    Envelope,
    Event,
    RunTask,
    failed,
    read,
    started,
)
from cosykit.server.dashscope.task import SpeechTask
from cosykit.server.discretion import discreet
from cosykit.server.service import SpeechService
from cosykit.server.websocket import admitted, close_code_of
from cosykit.synthesis.limits import closing

# Most time between two messages of a task, until the last of them.
IDLE_S = 23.0
# Most time without a task.
UNUSED_S = 60.0
# What a client may still say after a failure. Its own client sends text and the end of
# it without listening in between; had we closed, it would not tell why.
LINGER_S = 1.0


async def inference(socket: WebSocket, service: SpeechService) -> None:
    """Handle a connection to `/api-ws/v1/inference`."""
    try:
        client = admitted(socket, service)
    except CosykitError as error:
        service.note_failure(error)
        await socket.send_denial_response(FailedAnswer.answer(error))
        return
    await socket.accept()
    # A client that leaves is told no more, nor one that takes nothing while the server
    # ends.
    with suppress(WebSocketDisconnect, asyncio.CancelledError):
        await Conversation(socket, client, service).hold()


class Conversation:
    """Speaks the tasks of one connection."""

    def __init__(
        self, socket: WebSocket, client: Client, service: SpeechService
    ) -> None:
        self._socket, self._client, self._service = socket, client, service
        self._task: SpeechTask | None = None
        self._speaking: asyncio.Task[None] | None = None
        # What a failure is about.
        self._task_id = ""
        self._heard_at = time.monotonic()
        # An event and its audio must not be parted.
        self._turn = asyncio.Lock()

    async def hold(self) -> None:
        """Answer messages until a task fails, or none is begun for long.

        Raises:
            WebSocketDisconnect: The client has gone.
        """
        code = CloseCode.NORMAL_CLOSURE
        try:
            await self._answer_messages()
        except WebSocketDisconnect:
            raise
        except CosykitError as error:
            self._service.note_failure(error)
            await self._fail(error)
            code = close_code_of(error)
        except asyncio.CancelledError:
            # Nobody but a server whose grace has run out cancels.
            refusal = closing()
            await self._fail(refusal)
            code = close_code_of(refusal)
        except Exception:
            # Its own client would wait for ten minutes for a task that never ends.
            await self._fail(CosykitError("the server failed unexpectedly"))
            raise
        finally:
            await self._stop_speaking()
        await self._socket.close(code)

    async def _fail(self, error: CosykitError) -> None:
        await self._stop_speaking()
        models_dir = self._service.settings.models_dir
        await self._tell(failed(self._task_id, discreet(error, models_dir)))
        await self._linger()

    async def _answer_messages(self) -> None:
        receiving = asyncio.create_task(self._receive())
        try:
            while await self._wait_for(receiving):
                if self._speaking and self._speaking.done():
                    self._conclude()
                if receiving.done():
                    message = receiving.result()
                    if message is None:
                        await self._wind_up()
                        return
                    self._heard_at = time.monotonic()
                    await self._answer(message)
                    receiving = asyncio.create_task(self._receive())
        finally:
            receiving.cancel()
            await asyncio.gather(receiving, return_exceptions=True)

    async def _wait_for(self, receiving: "asyncio.Task[str | None]") -> bool:
        """Wait for a message or the end of the task; False where no task comes.

        Raises:
            SilenceError: No text comes.
        """
        awaited = {receiving, self._speaking} if self._speaking else {receiving}
        done, _ = await asyncio.wait(
            awaited, timeout=self._patience_s(), return_when=asyncio.FIRST_COMPLETED
        )
        if not done and self._task:
            raise SilenceError(
                f"request timeout after {IDLE_S:g} seconds",
                hint="Send text, or finish-task when there is no more",
            )
        return bool(done)

    def _patience_s(self) -> float | None:
        """Tell how long to wait for a message; None where none need come."""
        if self._task and self._task.is_complete:
            return None
        limit_s = IDLE_S if self._task else UNUSED_S
        return max(0.0, self._heard_at + limit_s - time.monotonic())

    def _conclude(self) -> None:
        """Forget a task that has ended.

        Raises:
            CosykitError: It has failed.
        """
        assert self._task and self._speaking
        self._task_id = self._task.task_id
        ended, self._task, self._speaking = self._speaking, None, None
        self._heard_at = time.monotonic()
        ended.result()

    async def _wind_up(self) -> None:
        """Speak a task to its end, if all of its text has come.

        Raises:
            BusyError: It has not.
            CosykitError: It has failed.
        """
        if self._task and not self._task.is_complete:
            raise closing()
        if self._speaking:
            await asyncio.wait({self._speaking})
            self._conclude()

    async def _answer(self, message: str) -> None:
        header = read(message, Envelope).header
        self._task_id = header.task_id
        if header.action == "run-task":
            await self._run(read(message, RunTask))
            return
        about = read(message, AboutTask).payload.input
        if header.action == "continue-task":
            self._task_of(header.task_id).take(about)
        elif about.directive == "cancel":
            await self._cancel(header.task_id)
        else:
            self._task_of(header.task_id).complete()

    async def _cancel(self, task_id: str) -> None:
        """End a task at once; it may just have ended by itself."""
        task, speaking = self._task, self._speaking
        if task and task.task_id == task_id and speaking and not speaking.done():
            await self._stop_speaking()
            await task.tell_end()

    async def _run(self, wanted: RunTask) -> None:
        """Begin a task; one that is under way ends without a word."""
        await self._stop_speaking()
        self._service.admission.count(self._client)
        task = SpeechTask(wanted, self._client, self._service, self._tell)
        await self._tell(started(task.task_id))
        if wanted.payload.input.text:
            task.take(wanted.payload.input)
        self._task = task
        self._speaking = asyncio.create_task(task.speak())

    def _task_of(self, task_id: str) -> SpeechTask:
        if self._task is None or self._task.task_id != task_id:
            raise InputError(
                f"there is no task {quoted(task_id)} under way",
                hint="Begin it with run-task",
                param="task_id",
            )
        if self._task.is_complete:
            raise InputError(
                "the task has been finished already",
                hint="Wait for task-finished, then begin another with run-task",
            )
        return self._task

    async def _stop_speaking(self) -> None:
        stopped, self._task, self._speaking = self._speaking, None, None
        self._heard_at = time.monotonic()
        if stopped:
            stopped.cancel()
            # It may have failed at this very moment; nobody wants to know any more.
            await asyncio.gather(stopped, return_exceptions=True)

    async def _receive(self) -> str | None:
        """Take a message; None tells that the server closes.

        Raises:
            InputError: It is binary.
            WebSocketDisconnect: The client has gone.
        """
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            if message.get("code") == CloseCode.SERVICE_RESTART:
                return None
            raise WebSocketDisconnect(message.get("code", CloseCode.NORMAL_CLOSURE))
        text: str | None = message.get("text")
        if text is None:
            raise InputError(
                "the message is binary", hint="Send JSON, as text, in a text frame"
            )
        return text

    async def _linger(self) -> None:
        """Listen a little longer, but answer no more."""
        if self._socket.client_state is not WebSocketState.CONNECTED:
            return  # the server closes, and nothing can be heard
        with suppress(TimeoutError, InputError):
            async with asyncio.timeout(LINGER_S):
                while await self._receive() is not None:
                    pass

    async def _tell(self, event: Event, audio: bytes = b"") -> None:
        """Send an event, and the audio that goes with it, even if cancelled meanwhile.

        Raises:
            WebSocketDisconnect: The client has gone, or takes nothing any more.
        """
        await to_its_end(self._send(event, audio))

    async def _send(self, event: Event, audio: bytes) -> None:
        patience = asyncio.timeout(self._service.settings.engine.timeout_s)
        try:
            async with self._turn, patience:
                await self._socket.send_text(event.written())
                if audio:
                    await self._socket.send_bytes(audio)
        except TimeoutError:
            raise WebSocketDisconnect(CloseCode.GOING_AWAY) from None
