"""A route as data: the app is built from it, and so is the OpenAPI document."""

import asyncio
from abc import abstractmethod
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cosykit.audio.formats import SAMPLE_RATES
from cosykit.errors import (
    AccessError,
    BusyError,
    CosykitError,
    InputError,
    OutOfMemoryError,
    TooLargeError,
    UnknownFieldError,
    UnsupportedMediaError,
    quoted,
)
from cosykit.server.admission import Client
from cosykit.server.cache.control import CACHE_CONTROL, CacheControl
from cosykit.server.discretion import discreet
from cosykit.server.service import SpeechService
from cosykit.types import Language, language_of_tag

Handler = Callable[[Request, SpeechService], Awaitable[Response]]
Body = TypeVar("Body", bound=BaseModel)

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""For bodies: nothing is ignored, and nothing is guessed from another type."""

Name = Annotated[str, Field(min_length=1, max_length=256)]
"""Of a voice or a model."""


def _as_code(tag: object) -> object:
    return (language_of_tag(tag) if isinstance(tag, str) else None) or tag


SpokenLanguage = Annotated[Language, BeforeValidator(_as_code)]
"""By its code, or by a tag such as `zh-CN`."""

ModelName = Annotated[
    Name,
    Field(
        description="An installed model; `auto`, or one of OpenAI's names, takes the "
        "configured one"
    ),
]

# What a request may have besides texts: braces, commas, numbers and white space.
_MOST_STRUCTURE_BYTES = 16 << 10

SampleRate = Annotated[
    int,
    Field(
        description="Samples a second; 0 takes the configured rate",
        # Which of them a format can hold is its own affair.
        json_schema_extra={"enum": [0, *SAMPLE_RATES]},
    ),
]


class Failure(BaseModel):
    """What a protocol answers when something fails.

    Attributes:
        wrong_field_status: Status where a field is missing, unknown or wrong.
    """

    wrong_field_status: ClassVar[int] = 400

    @classmethod
    @abstractmethod
    def of(cls, error: CosykitError) -> Self:
        """Word an error."""

    @classmethod
    def answer(cls, error: CosykitError) -> Response:
        """Answer with an error."""
        headers = {}
        if isinstance(error, BusyError):
            headers["Retry-After"] = error.retry_after
        if isinstance(error, AccessError):
            headers["WWW-Authenticate"] = "Bearer"
        status = error.http_status
        if status == InputError.http_status:
            status = cls.wrong_field_status
        return JSONResponse(cls.of(error).model_dump(), status, headers)


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path.

    Attributes:
        failure: The protocol's own shape of an error.
        body: Model of the request's body, if it has one.
        body_types: What the body may be declared as.
        query: What may stand behind the path, by name, in words.
        answer: Model of the JSON answer, if it is one.
        media_types: What the answer may be besides.
        statuses: Statuses of the answer; others are failures.
        guarded: Whether an API key is asked for where keys are configured.
        counted: Whether it counts towards the rates of keys and addresses, as what
            makes work does; looking around does not.
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    summary: str
    handler: Handler
    failure: type[Failure]
    body: type[BaseModel] | None = None
    body_types: Sequence[str] = ("application/json",)
    query: Mapping[str, str] = field(default_factory=dict)
    answer: type[BaseModel] | None = None
    media_types: Sequence[str] = field(default=())
    statuses: Sequence[int] = (200,)
    guarded: bool = True
    counted: bool = True

    async def answer_to(self, request: Request, service: SpeechService) -> Response:
        """Handle a request; expected failures become answers."""
        cache_control = ", ".join(request.headers.getlist("cache-control"))
        CACHE_CONTROL.set(CacheControl.of(cache_control))
        try:
            if self.guarded:
                request.state.client = self._admitted(request, service)
            return await self.handler(request, service)
        except CosykitError as error:
            service.note_failure(error)
            models_dir = service.settings.models_dir
            return self.failure.answer(discreet(error, models_dir))
        except MemoryError:
            shortage = OutOfMemoryError()
            service.note_failure(shortage)
            return self.failure.answer(shortage)
        except asyncio.CancelledError:
            # Nobody but a server whose grace has run out cancels a request.
            closing = BusyError("the server is closing", hint="Try again later")
            return self.failure.answer(closing)

    def _admitted(self, request: Request, service: SpeechService) -> Client:
        scheme, _, shown = request.headers.get("authorization", "").partition(" ")
        key = shown.strip() if scheme.lower() == "bearer" else None
        address = request.client.host if request.client else ""
        if self.counted:
            return service.admission.admit(key, address)
        return service.admission.recognise(key, address)


def client_of(request: Request) -> Client:
    """Tell who asks, of a guarded operation."""
    client = request.state.client
    assert isinstance(client, Client)
    return client


def check_length(text: str, max_chars: int) -> None:
    """Refuse a text that is longer than the configuration allows.

    Raises:
        InputError: It is.
    """
    if len(text) > max_chars:
        raise InputError(
            f"the text has {len(text)} characters, {max_chars} are allowed",
            hint="Split it into several requests, or raise server.max_text_chars",
            param="text",
        )


async def read_body(
    request: Request,
    model: type[Body],
    limit_mb: int,
    wrappings: Collection[str] = (),
) -> Body:
    """Read, bound, decode and validate a JSON body; see `field_error`.

    Raises:
        UnsupportedMediaError: It is not declared as JSON.
        TooLargeError: It is longer than the limit.
        InputError: It is not JSON, or a field of it is wrong.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedMediaError(
            f"the body has the content type {quoted(kind)}"
            if kind
            else "no content type",
            hint="Send JSON with the header 'Content-Type: application/json'",
        )
    body = b"".join([part async for part in bounded_body(request, limit_mb)])
    return validated(body, model, wrappings)


async def bounded_body(request: Request, limit_mb: int) -> AsyncGenerator[bytes]:
    """Read a body, part by part.

    Raises:
        TooLargeError: It is longer than the limit.
    """
    size_bytes = 0
    async for part in request.stream():
        size_bytes += len(part)
        if size_bytes > limit_mb << 20:
            raise TooLargeError(
                f"the body is longer than {limit_mb} MiB",
                hint="Send less text or a shorter recording, or raise "
                "server.max_body_mb",
            )
        yield part


def validated(body: bytes, model: type[Body], wrappings: Collection[str] = ()) -> Body:
    """Decode and validate JSON; see `field_error`.

    Raises:
        InputError: It is not JSON, or a field of it is wrong.
    """
    _check_structure(body)
    try:
        return model.model_validate_json(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"the body is not UTF-8 at byte {error.start}", hint="Encode it as UTF-8"
        ) from error
    except ValidationError as error:
        raise field_error(error, wrappings) from error


def _check_structure(body: bytes) -> None:
    """Refuse what would hold all other threads up while it is parsed.

    4 MB of keys or of empty lists take 1 to 2 s, as long a text or a recording 5 ms;
    what stands outside of texts makes the difference.

    Raises:
        InputError: There is more of it than any request of ours has.
    """
    if len(body) <= _MOST_STRUCTURE_BYTES:
        return
    unescaped = body.replace(rb"\\", b"").replace(rb"\"", b"")
    outside_bytes = len(b"".join(unescaped.split(b'"', 2 * _MOST_STRUCTURE_BYTES)[::2]))
    if outside_bytes > _MOST_STRUCTURE_BYTES:
        raise InputError(
            "the body is not JSON as it is taken here: too many fields, or long lists",
            hint="See /docs for the fields",
        )


def field_error(error: ValidationError, wrappings: Collection[str] = ()) -> InputError:
    """Tell the first wrong field; fixing it shows the next.

    Args:
        wrappings: Names of objects that only hold the fields.
    """
    first = error.errors(include_url=False, include_input=False)[0]
    message = first["msg"][0].lower() + first["msg"][1:]
    if first["type"] == "json_invalid":
        return InputError(
            f"the body is not JSON: {first['ctx']['error']}",
            hint="Check quotes, commas and numbers",
        )
    # What follows the field's name in the place are steps inside of it.
    place = [step for step in first["loc"] if step not in wrappings]
    name = str((place or first["loc"][-1:])[0])[:64] if first["loc"] else None
    hint = "See /docs for the fields"
    if first["type"] == "extra_forbidden":
        return UnknownFieldError(f"{name}: unknown field", hint=hint, param=name)
    return InputError(f"{name or 'the body'}: {message}", hint=hint, param=name)
