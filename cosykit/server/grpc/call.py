"""One call of a method, from the key that it shows to the status that it ends with."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar
from urllib.parse import unquote

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

from cosykit.errors import BusyError, CosykitError, InputError, SilenceError
from cosykit.server.admission import Client
from cosykit.server.beside import to_its_end
from cosykit.server.cache.control import CACHE_CONTROL, CacheControl
from cosykit.server.discretion import discreet
from cosykit.server.request_log import REQUEST_ID, note_answer, safe_id
from cosykit.server.service import SpeechService
from cosykit.server.streaming import taken_within

_log = logging.getLogger("cosykit.access")

Context = grpc.aio.ServicerContext[bytes, bytes]
Request = TypeVar("Request", bound=Message)

_CODES: Mapping[int, grpc.StatusCode] = MappingProxyType(
    {
        400: grpc.StatusCode.INVALID_ARGUMENT,
        401: grpc.StatusCode.UNAUTHENTICATED,
        404: grpc.StatusCode.NOT_FOUND,
        408: grpc.StatusCode.ABORTED,
        413: grpc.StatusCode.INVALID_ARGUMENT,
        415: grpc.StatusCode.INVALID_ARGUMENT,
        429: grpc.StatusCode.RESOURCE_EXHAUSTED,
        502: grpc.StatusCode.UNAVAILABLE,
        503: grpc.StatusCode.UNAVAILABLE,
        504: grpc.StatusCode.DEADLINE_EXCEEDED,
    }
)
"""Status codes of gRPC by those of HTTP; all others are INTERNAL."""

_Pairs = tuple[tuple[str, str], ...]
_NOTHING: _Pairs = ()


class UnderWay:
    """Knows the calls, from their coming to the sending of their status.

    Attributes:
        is_over: Whether they were broken off.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._tasks: set[asyncio.Task[object]] = set()
        self._none = asyncio.Event()
        self._none.set()

    def add(self, context: Context) -> None:
        """Note the call that the current task answers."""
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self._none.clear()

        def remove(ctx: Context) -> None:
            self._tasks.discard(task)
            if not self._tasks:
                self._none.set()

        # Its type asks for a class that does not exist.
        context.add_done_callback(remove)  # type: ignore[arg-type]

    async def wait_for_none(self) -> None:
        """Wait until all have ended."""
        await self._none.wait()

    def break_off(self) -> None:
        """Have all of them fail, because the server closes."""
        self.is_over = True
        for task in self._tasks:
            task.cancel()


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the service.

    Attributes:
        guarded: Whether an API key is asked for where keys are configured.
        counted: Whether it counts towards the rates of keys and addresses.
    """

    name: str
    answer: Callable[["Call"], Awaitable[None]]
    guarded: bool = True
    counted: bool = True

    def handler(
        self, service: SpeechService, under_way: UnderWay
    ) -> "grpc.RpcMethodHandler[bytes, bytes]":
        """Handle calls of it.

        Messages pass as bytes, and streams for all that the client sends and gets:
        gRPC itself would never answer a call that ends before its one message, and
        would answer what it cannot parse with an exception of Python.
        """

        async def handle(_: object, context: Context) -> None:
            under_way.add(context)
            await Call(self, service, context, under_way).run()

        return grpc.stream_stream_rpc_method_handler(handle)


class Call:
    """A call that is being answered.

    Attributes:
        client: Who calls.
    """

    def __init__(
        self,
        method: Method,
        service: SpeechService,
        context: Context,
        under_way: UnderWay,
    ) -> None:
        self.service = service
        self.client = Client("")
        self._method = method
        self._context = context
        self._under_way = under_way
        self._silence: asyncio.Timeout | None = None
        self._patience_s = 0.0
        self._metadata = {
            str(key): value
            for key, value in context.invocation_metadata() or ()
            if isinstance(value, str)
        }

    async def run(self) -> None:
        """Answer it; every failure becomes a status."""
        began = time.perf_counter()
        code, details, about = grpc.StatusCode.CANCELLED, "", _NOTHING
        REQUEST_ID.set(safe_id(self._metadata.get("x-request-id", "")))
        CACHE_CONTROL.set(CacheControl.of(self._metadata.get("cache-control", "")))
        try:
            await self._answer()
            code = grpc.StatusCode.OK
        except CosykitError as error:
            self.service.note_failure(error)
            error = discreet(error, self.service.settings.models_dir)
            code = _CODES.get(error.http_status, grpc.StatusCode.INTERNAL)
            details, about = str(error), _about(error)
        except grpc.aio.BaseError:
            # Nobody is there any more.
            raise
        except Exception:
            code, details = grpc.StatusCode.INTERNAL, "the server failed unexpectedly"
            _log.exception("the server failed")
        finally:
            self._note(code, time.perf_counter() - began)
        if code is not grpc.StatusCode.OK:
            await self._context.abort(code, details, about)

    async def _answer(self) -> None:
        if self._method.guarded:
            self.client = self._admitted()
        try:
            await self._method.answer(self)
        except asyncio.CancelledError:
            if self._under_way.is_over:
                raise closing() from None
            raise

    @property
    def time_left_s(self) -> float | None:
        """How long the client waits at most; None if it does not say."""
        return self._context.time_remaining()

    async def begin(self, headers: Mapping[str, str]) -> None:
        """Send what goes ahead of the first message."""
        metadata = {name.lower(): value for name, value in headers.items()}
        metadata["x-request-id"] = REQUEST_ID.get()
        # A status sent meanwhile would bring them a second time, and fail for that.
        await to_its_end(self._send_ahead(tuple(metadata.items())))

    async def _send_ahead(self, metadata: _Pairs) -> None:
        await self._context.send_initial_metadata(metadata)

    @asynccontextmanager
    async def stirring(self, patience_s: float) -> AsyncGenerator[None]:
        """Give the call up when nothing is read or written for a time.

        Raises:
            SilenceError: Nothing was.
        """
        try:
            async with asyncio.timeout(patience_s) as self._silence:
                self._patience_s = patience_s
                yield
        except TimeoutError:
            raise SilenceError(
                f"nothing was sent for {patience_s:g} s",
                hint="Send text while it is written, and finish what is not used",
            ) from None
        finally:
            self._silence = None

    async def read(self, kind: type[Request]) -> Request | None:
        """Wait for the next message; None if there will be none, or the server closes.

        Raises:
            InputError: It is not of this kind.
        """
        content = await self._read()
        self._stir()
        if not isinstance(content, bytes):
            return None
        try:
            return kind.FromString(content)
        except DecodeError as error:
            raise InputError(
                f"the message is no {kind.DESCRIPTOR.name}",
                hint="See speech.proto, or ask the server by reflection",
            ) from error

    async def read_first(self, kind: type[Request]) -> Request:
        """Wait for the first message.

        Raises:
            InputError: It does not come in time, or is not of this kind.
            BusyError: The server closes.
        """
        silence_s = self.service.settings.server.silence_s
        try:
            async with asyncio.timeout(silence_s):
                message = await self.read(kind)
        except TimeoutError:
            message = None
        if message is not None:
            return message
        if self.service.closing.is_set():
            raise closing()
        raise InputError(
            f"no {kind.DESCRIPTOR.name} has come",
            hint=f"Send it within {silence_s:g} s",
        )

    async def write(self, message: Message) -> None:
        """Send a message, as soon as the client takes more.

        Raises:
            SilenceError: It takes nothing for so long that it must be gone.
        """
        async with taken_within(self.service.settings.engine.timeout_s):
            await self._context.write(message.SerializeToString())
        self._stir()

    def _stir(self) -> None:
        if self._silence and not self._silence.expired():
            now = asyncio.get_running_loop().time()
            self._silence.reschedule(now + self._patience_s)

    async def _read(self) -> object:
        reading = asyncio.ensure_future(self._context.read())
        closing = asyncio.ensure_future(self.service.closing.wait())
        try:
            await asyncio.wait({reading, closing}, return_when=asyncio.FIRST_COMPLETED)
            return reading.result() if reading.done() else None
        finally:
            reading.cancel()
            closing.cancel()

    def _admitted(self) -> Client:
        scheme, _, shown = self._metadata.get("authorization", "").partition(" ")
        is_bearer = scheme.lower() == "bearer"
        key = shown.strip() if is_bearer else self._metadata.get("x-api-key")
        admission = self.service.admission
        admit = admission.admit if self._method.counted else admission.recognise
        return admit(key, _address(self._context.peer()))

    def _note(self, code: grpc.StatusCode, elapsed_s: float) -> None:
        route = f"gRPC {self._method.name}"
        note_answer(self.service.metrics, route, code.name, elapsed_s)


def closing() -> BusyError:
    """Say that the server closes."""
    return BusyError("the server is closing", hint="Try again later")


def _about(error: CosykitError) -> _Pairs:
    """Tell programs of an error, beside the status."""
    about = {"cosykit-code": error.code}
    if error.param:
        about["cosykit-param"] = error.param.encode("ascii", "replace").decode()
    if isinstance(error, BusyError):
        about["retry-after"] = error.retry_after
    return tuple(about.items())


def _address(peer: str) -> str:
    """Take the address out of `ipv4:127.0.0.1:5000` or `ipv6:%5B::1%5D:5000`."""
    _, _, place = unquote(peer).partition(":")
    return place.rpartition(":")[0].strip("[]")
