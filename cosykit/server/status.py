"""Is it alive, is it ready, how is it doing."""

import time
from typing import Literal

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cosykit import __version__
from cosykit.server.openai_shapes import ErrorAnswer
from cosykit.server.operations import Operation
from cosykit.server.service import SpeechService, State


class Queue(BaseModel):
    """How busy the engine is, in requests."""

    waiting: int = 0
    active: int = 0
    limit: int


class Health(BaseModel):
    """How the server is.

    Attributes:
        state: Where loading stands.
        model: Model id; the configured one while it loads.
        provider: Execution provider in use; None while loading.
        precision: Quantization level in use; None while loading.
        fallback: Why no better model speaks; empty if none was wanted.
        failure: Why the model cannot be loaded, if so.
    """

    status: Literal["alive"] = "alive"
    state: State
    model: str
    provider: str | None = None
    precision: str | None = None
    threads: int | None = None
    note: str = ""
    fallback: str = ""
    failure: str = ""
    queue: Queue
    uptime_s: float
    version: str = __version__


class Readiness(BaseModel):
    """Whether requests are answered without delay."""

    ready: bool
    state: State


async def health(request: Request, service: SpeechService) -> Response:
    """Handle `GET /health`: 200 as long as the server lives."""
    loop, settings = service.engine_loop, service.settings
    answer = Health(
        state=service.state,
        model=settings.model,
        fallback=service.fallback,
        failure=str(service.failure or ""),
        queue=Queue(limit=settings.engine.queue_size),
        uptime_s=round(time.time() - service.started_at, 1),
    )
    if loop:
        info = loop.engine.info
        answer.model, answer.provider = info.model, info.provider
        answer.precision, answer.threads = info.precision, info.threads
        answer.note = info.note
        answer.queue.waiting, answer.queue.active = loop.waiting, loop.active
    return JSONResponse(answer.model_dump())


async def ready(request: Request, service: SpeechService) -> Response:
    """Handle `GET /ready`: 503 until the model is loaded and warm."""
    is_ready = service.state == "ready"
    answer = Readiness(ready=is_ready, state=service.state)
    return JSONResponse(answer.model_dump(), 200 if is_ready else 503)


async def metrics(request: Request, service: SpeechService) -> Response:
    """Handle `GET /metrics`."""
    return Response(
        service.metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8"
    )


OPERATIONS = (
    Operation(
        "GET",
        "/health",
        "Tell how the server is",
        health,
        ErrorAnswer,
        answer=Health,
        guarded=False,
    ),
    Operation(
        "GET",
        "/ready",
        "Tell whether the model is loaded and warm",
        ready,
        ErrorAnswer,
        answer=Readiness,
        statuses=(200, 503),
        guarded=False,
    ),
    Operation(
        "GET",
        "/metrics",
        "Figures for Prometheus",
        metrics,
        ErrorAnswer,
        media_types=("text/plain",),
        counted=False,
    ),
)
