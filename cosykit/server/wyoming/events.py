"""Read the events of a client that may send anything, and check what they ask for."""

import asyncio
import json
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from wyoming.event import Event

from cosykit.errors import InputError, TooLargeError
from cosykit.server.operations import Name, field_error

Asked = TypeVar("Asked", bound=BaseModel)

LONGEST_LINE_BYTES = 1 << 16
"""What follows a line may be longer; see `read_event`."""

# Clients may be of a later version of the protocol than we.
_LENIENT = ConfigDict(extra="ignore", strict=True)


class _Line(BaseModel):
    """The first line of an event.

    Attributes:
        data_length: Bytes of JSON that follow, to be added to the data.
        payload_length: Bytes that follow those.
    """

    model_config = _LENIENT

    type: Annotated[str, Field(max_length=256)]
    data: dict[str, object] | None = None
    data_length: Annotated[int, Field(ge=0)] | None = None
    payload_length: Annotated[int, Field(ge=0)] | None = None


class VoiceChoice(BaseModel):
    """Who is to speak."""

    model_config = _LENIENT

    name: Name | None = None
    language: Annotated[str, Field(max_length=64)] | None = None
    speaker: None = None


class Manner(BaseModel):
    """How to speak."""

    model_config = _LENIENT

    voice: VoiceChoice | None = None
    text_format: Literal["text"] | None = None


class Piece(BaseModel):
    """The next piece of a text."""

    model_config = _LENIENT

    text: str


class WholeText(Manner):
    """What to say, and how."""

    text: str


async def read_event(reader: asyncio.StreamReader, limit_bytes: int) -> Event | None:
    """Wait for an event; None at the end of the connection, even if amid an event.

    The package's own reader would take in whatever length a client declares.

    Raises:
        InputError: It is no event; where the next one begins is unknown then.
        TooLargeError: It is longer than the limit.
    """
    try:
        text = await reader.readline()
    except ValueError as error:
        raise TooLargeError(
            f"the line of the event is longer than {LONGEST_LINE_BYTES >> 10} KiB",
            hint="Send long data after the line",
        ) from error
    if not text.endswith(b"\n"):
        return None
    line = _checked(_Line, _object(text))
    length = (line.data_length or 0) + (line.payload_length or 0)
    if length > limit_bytes:
        raise TooLargeError(
            f"the event is longer than {limit_bytes >> 20} MiB",
            hint="Send less, or raise server.max_body_mb",
        )
    try:
        more = await reader.readexactly(line.data_length or 0)
        payload = await reader.readexactly(line.payload_length or 0)
    except asyncio.IncompleteReadError:
        return None
    data = (line.data or {}) | (_object(more) if more else {})
    return Event(line.type, data, payload)


def asked(kind: type[Asked], event: Event) -> Asked:
    """Check what an event asks for.

    Raises:
        InputError: A field of it is wrong.
    """
    return _checked(kind, event.data)


def _checked(kind: type[Asked], fields: object) -> Asked:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        refusal = field_error(error, ("voice",))
        refusal.hint = "See the protocol of Wyoming for the fields"
        raise refusal from error


def _object(content: bytes) -> dict[str, object]:
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(
            "the event is not JSON", hint="See the protocol of Wyoming"
        ) from error
    if not isinstance(parsed, dict):
        raise InputError(
            "the event is no JSON object", hint="See the protocol of Wyoming"
        )
    return parsed
