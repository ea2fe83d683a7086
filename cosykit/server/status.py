"""Is it alive, is it ready, how is it doing."""

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cosykit import __version__
from cosykit.seams import EngineInfo
from cosykit.server.configured import State
from cosykit.server.discretion import without_folders
from cosykit.server.openai_shapes import ErrorAnswer
from cosykit.server.operations import Operation
from cosykit.server.service import SpeechService


class Queue(BaseModel):
    """How busy the engine is, in requests."""

    waiting: int = 0
    active: int = 0
    limit: int


class LoadedModel(BaseModel):
    """A model in memory, or on its way into it or out of it.

    Attributes:
        configured: Whether it is the one that speaks where a request names none.
        memory_mb: What it takes, as far as that is known.
        requests: How many wait for it or speak with it.
        failure: Why it could not be loaded, if so.
    """

    model: str
    state: State | Literal["waiting", "leaving"]
    configured: bool = False
    provider: str | None = None
    precision: str | None = None
    memory_mb: int = 0
    requests: int = 0
    failure: str = ""


class Health(BaseModel):
    """How the server is.

    Attributes:
        state: Where loading stands.
        model: Model id; the configured one while it loads.
        provider: Execution provider in use; None while loading.
        precision: Quantization level in use; None while loading.
        fallback: Why no better model speaks; empty if none was wanted.
        failure: Why the model cannot be loaded, if so.
        queue: Requests to the configured model.
        models: All that are loaded, the configured one first.
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
    models: list[LoadedModel] = []
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
        failure=without_folders(str(service.failure or ""), settings.models_dir),
        queue=Queue(limit=settings.engine.queue_size),
        uptime_s=round(service.uptime_s, 1),
    )
    if loop:
        info = loop.engine.info
        answer.model, answer.provider = info.model, info.provider
        answer.precision, answer.threads = info.precision, info.threads
        answer.note = info.note
        answer.queue.waiting, answer.queue.active = loop.waiting, loop.active
    answer.models = [_configured(service), *_others(service)]
    return JSONResponse(answer.model_dump())


def _configured(service: SpeechService) -> LoadedModel:
    loop = service.engine_loop
    shown = LoadedModel(
        model=service.settings.model,
        state=service.state,
        configured=True,
        memory_mb=service.configured.memory_bytes // 1_000_000,
    )
    if loop:
        shown.requests = loop.waiting + loop.active
        _describe(shown, loop.engine.info)
    return shown


def _others(service: SpeechService) -> Iterator[LoadedModel]:
    for member in service.pool.members:
        shown = LoadedModel(
            model=member.model,
            state=member.state,
            memory_mb=member.memory_bytes // 1_000_000,
            requests=member.users,
        )
        if member.serving:
            _describe(shown, member.serving.loop.engine.info)
        yield shown
    models_dir = service.settings.models_dir
    for model, error in service.pool.failures.items():
        failure = without_folders(str(error), models_dir)
        yield LoadedModel(model=model, state="failed", failure=failure)


def _describe(shown: LoadedModel, info: EngineInfo) -> None:
    shown.model, shown.provider, shown.precision = (
        info.model,
        info.provider,
        info.precision,
    )


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
