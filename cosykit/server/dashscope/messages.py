"""What a DashScope client and its server tell each other over a WebSocket."""

from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from cosykit.errors import CosykitError
from cosykit.server.dashscope.failures import code_of
from cosykit.server.dashscope.parameters import Parameters
from cosykit.server.operations import STRICT, Name, validated

ResultKind = Literal["sentence-begin", "sentence-synthesis", "sentence-end"]
Message = TypeVar("Message", bound=BaseModel)

# Clients put there what we need not know: workspaces, resources, attributes.
_ENVELOPE = ConfigDict(extra="ignore", strict=True)
_WRAPPINGS = ("header", "payload", "input", "parameters")


class Header(BaseModel):
    """Which task a message is about, and what is to be done with it."""

    model_config = _ENVELOPE

    action: Literal["run-task", "continue-task", "finish-task"]
    task_id: str = Field(min_length=1, max_length=128)
    streaming: Literal["duplex"] = "duplex"


class Envelope(BaseModel):
    """Any message of a client, before it is clear of which kind."""

    model_config = _ENVELOPE

    header: Header


class Input(BaseModel):
    """A part of the text, or what to do instead.

    Attributes:
        flush: Whether to speak all that has come, be it a whole sentence or not.
        directive: Ends the task at once instead of when all is spoken.
    """

    model_config = STRICT

    text: str | None = None
    flush: bool = False
    directive: Literal["cancel"] | None = None


class Task(BaseModel):
    """What is to be spoken with."""

    model_config = _ENVELOPE

    task_group: Literal["audio"] = "audio"
    task: Literal["tts"] = "tts"
    function: Literal["SpeechSynthesizer"] = "SpeechSynthesizer"
    model: Name
    input: Input
    parameters: Parameters = Parameters()


class RunTask(Envelope):
    """Begins a task."""

    payload: Task


class More(BaseModel):
    """What comes with a message about a task under way."""

    model_config = _ENVELOPE

    input: Input


class AboutTask(Envelope):
    """Continues or finishes a task."""

    payload: More


def read(message: str, kind: type[Message]) -> Message:
    """Read a message.

    Raises:
        InputError: It is no JSON, or a field is missing, unknown or wrong.
    """
    return validated(message.encode(), kind, _WRAPPINGS)


class Word(BaseModel):
    """When a word is heard, in milliseconds of the speech."""

    text: str
    begin_index: int
    end_index: int
    begin_time: int
    end_time: int


class Sentence(BaseModel):
    """A sentence of a task.

    Attributes:
        words: Empty: no engine knows when they are heard.
    """

    index: int | None = None
    words: list[Word] = []


class Result(BaseModel):
    """What has become of a sentence."""

    sentence: Sentence
    type: ResultKind | None = None
    original_text: str | None = None


class Usage(BaseModel):
    """Characters of the task so far."""

    characters: int


class Payload(BaseModel):
    """What an event tells."""

    output: Result | None = None
    usage: Usage | None = None


class EventHeader(BaseModel):
    """Which task an event is about, and what happened."""

    task_id: str
    event: Literal["task-started", "result-generated", "task-finished", "task-failed"]
    error_code: str | None = None
    error_message: str | None = None
    attributes: dict[str, str] = {}


class Event(BaseModel):
    """An event of a task; audio follows an event of the kind `sentence-synthesis`."""

    header: EventHeader
    payload: Payload = Payload()

    def written(self) -> str:
        """Write it as JSON."""
        return self.model_dump_json(exclude_none=True)


def started(task_id: str) -> Event:
    """Tell that text may come."""
    return Event(header=EventHeader(task_id=task_id, event="task-started"))


def generated(task_id: str, result: Result, characters: int | None = None) -> Event:
    """Tell what has become of a sentence."""
    usage = None if characters is None else Usage(characters=characters)
    return Event(
        header=EventHeader(task_id=task_id, event="result-generated"),
        payload=Payload(output=result, usage=usage),
    )


def finished(task_id: str, request_uuid: str, characters: int) -> Event:
    """Tell that all is spoken."""
    return Event(
        header=EventHeader(
            task_id=task_id,
            event="task-finished",
            attributes={"request_uuid": request_uuid},
        ),
        payload=Payload(
            output=Result(sentence=Sentence()), usage=Usage(characters=characters)
        ),
    )


def failed(task_id: str, error: CosykitError) -> Event:
    """Tell why a task has failed."""
    return Event(
        header=EventHeader(
            task_id=task_id,
            event="task-failed",
            error_code=code_of(error),
            error_message=str(error),
        )
    )
