"""The application: every route, and what is around them."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from importlib.resources import files
from types import MappingProxyType

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from cosykit.errors import CosykitError, InputError, NotFoundError
from cosykit.server import convert, openai, status, tts, upstream, voices
from cosykit.server.dashscope import http as dashscope
from cosykit.server.dashscope.socket import inference
from cosykit.server.openai_shapes import ErrorAnswer
from cosykit.server.openapi import openapi_document
from cosykit.server.operations import Operation
from cosykit.server.ports import further_ports
from cosykit.server.request_log import RequestLog
from cosykit.server.service import SpeechService
from cosykit.server.websocket_messages import CONVERSATION
from cosykit.server.websocket_speech import PATH as SPEECH_PATH
from cosykit.server.websocket_speech import speak as speak_live

OPERATIONS: Sequence[Operation] = (
    *openai.OPERATIONS,
    *tts.OPERATIONS,
    *voices.OPERATIONS,
    *convert.OPERATIONS,
    *upstream.OPERATIONS,
    *dashscope.OPERATIONS,
    *status.OPERATIONS,
)

SocketHandler = Callable[[WebSocket, SpeechService], Awaitable[None]]

SOCKETS: Mapping[str, SocketHandler] = MappingProxyType(
    {
        SPEECH_PATH: speak_live,
        "/api-ws/v1/inference": inference,
        # So its documentation writes it in places.
        "/api-ws/v1/inference/": inference,
    }
)
"""What answers the WebSockets of each path."""


def create_app(service: SpeechService) -> ASGIApp:
    """Build the application; its lifespan loads and closes the model."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with further_ports(service):
            service.start()
            try:
                yield
            finally:
                await service.close()

    app = Starlette(
        routes=[*_api_routes(service), *_socket_routes(service), *_page_routes()],
        exception_handlers={
            HTTPException: _refuse_route,
            ClientDisconnect: _note_departure,
            Exception: _report_bug,
        },
        lifespan=lifespan,
    )
    # Around all of it, so that the report of a bug passes through them too.
    return RequestLog(_open_to_pages(app, service), service.metrics)


def _open_to_pages(app: ASGIApp, service: SpeechService) -> ASGIApp:
    """Let web pages of the configured origins use the application."""
    origins = service.settings.server.cors_origins
    if not origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=origins,
        allow_methods=["GET", "POST", "DELETE"],
        # OpenAI's own client sends a dozen, and no header gives rights but the key.
        allow_headers=["*"],
        expose_headers=["X-Request-ID", "Retry-After"],
    )


def _api_routes(service: SpeechService) -> list[Route]:
    return [
        Route(op.path, _endpoint(op, service), methods=[op.method]) for op in OPERATIONS
    ]


def _endpoint(
    operation: Operation, service: SpeechService
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await operation.answer_to(request, service)

    return endpoint


def _socket_routes(service: SpeechService) -> list[WebSocketRoute]:
    return [
        *(
            WebSocketRoute(path, _socket_endpoint(handler, service))
            for path, handler in SOCKETS.items()
        ),
        WebSocketRoute("/{path:path}", _refuse_socket),
    ]


def _socket_endpoint(
    handler: SocketHandler, service: SpeechService
) -> Callable[[WebSocket], Awaitable[None]]:
    async def endpoint(socket: WebSocket) -> None:
        await handler(socket, service)

    return endpoint


def _page_routes() -> list[Route]:
    document = openapi_document(OPERATIONS, {SPEECH_PATH: CONVERSATION})

    async def describe(request: Request) -> Response:
        return JSONResponse(document)

    return [
        Route("/openapi.json", describe),
        Route("/docs", partial(_show_page, "docs.html")),
        Route("/", partial(_show_page, "index.html")),
    ]


async def _show_page(name: str, request: Request) -> Response:
    page = files("cosykit.server") / "page" / name
    return HTMLResponse(page.read_text(encoding="utf-8"))


async def _refuse_route(request: Request, error: Exception) -> Response:
    """Answer a path or a method that does not exist."""
    assert isinstance(error, HTTPException)
    path, hint = request.url.path[:128], "See /docs for the routes"
    problem: CosykitError
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        problem = InputError(f"{path} does not take {request.method}", hint=hint)
    else:
        problem = NotFoundError(f"{path} does not exist", hint=hint)
    answer = ErrorAnswer.answer(problem)
    answer.status_code = error.status_code
    answer.headers.update(error.headers or {})
    return answer


async def _refuse_socket(socket: WebSocket) -> None:
    """Answer a handshake where there are no WebSockets; Starlette would say 403."""
    problem = NotFoundError(
        f"{socket.url.path[:128]} takes no WebSockets",
        hint=f"Connect to one of {', '.join(SOCKETS)}",
    )
    del socket.scope["route"]  # so that the log and the metrics know of none
    await socket.send_denial_response(ErrorAnswer.answer(problem))


async def _note_departure(request: Request, error: Exception) -> Response:
    """End a request whose client went away; nobody reads this answer."""
    return Response(status_code=499)


async def _report_bug(request: Request, error: Exception) -> Response:
    """Answer a bug; its traceback is in the log."""
    return ErrorAnswer.answer(
        CosykitError(
            "the server failed unexpectedly",
            hint="Its log tells more under the request id in X-Request-ID",
        )
    )
