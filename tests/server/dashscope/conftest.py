"""DashScope's own client, pointed at a server of ours; and a bare socket."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import pytest
from dashscope.audio.tts_v2 import ResultCallback, SpeechSynthesizer
from websockets.sync.client import ClientConnection, connect

from tests.patience import PATIENCE_S
from tests.server.conftest import Running

# The example engine hums 0.08 s a letter.
LETTER_S = 0.08

TASK_ID = "2bf83b9abaeb4fda8d9a0123456789ab"


@pytest.fixture(autouse=True)
def api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashscope.api_key", "first")


def address(server: Running) -> str:
    return f"ws://127.0.0.1:{server.port}/api-ws/v1/inference"


def synthesizer(
    server: Running, fields: Mapping[str, Any] = MappingProxyType({})
) -> SpeechSynthesizer:
    """Make a client that speaks with a voice that hums, unless its fields differ."""
    usual = {"model": "cosyvoice-v2", "voice": "hum", "url": address(server)}
    return SpeechSynthesizer(**{**usual, **fields})


class Heard(ResultCallback):
    """Notes what the client is told, in order."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.outputs: list[dict[str, Any]] = []
        self.audio: list[bytes] = []
        self.error: dict[str, Any] = {}

    def on_open(self) -> None:
        self.calls.append("open")

    def on_complete(self) -> None:
        self.calls.append("complete")

    def on_error(self, message: str) -> None:
        self.calls.append("error")
        self.error = json.loads(message)["header"]

    def on_close(self) -> None:
        self.calls.append("close")

    def on_event(self, message: str) -> None:
        self.outputs.append(json.loads(message)["payload"]["output"])

    def on_data(self, data: bytes) -> None:
        self.calls.append("data")
        self.audio.append(data)


@dataclass(frozen=True, slots=True)
class Told:
    """An event of the server, or audio."""

    header: dict[str, Any] = field(default_factory=dict)
    payload: dict[str, Any] = field(default_factory=dict)
    audio: bytes = b""

    @property
    def event(self) -> str:
        return str(self.header.get("event", ""))

    @property
    def task_id(self) -> str:
        return str(self.header.get("task_id", ""))


class BareSocket:
    """Says what no client library would."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    def send(self, action: str, *, task_id: str = TASK_ID, **payload: object) -> None:
        header = {"action": action, "task_id": task_id, "streaming": "duplex"}
        self.send_text(json.dumps({"header": header, "payload": payload}))

    def send_text(self, text: str | bytes) -> None:
        self.connection.send(text)

    def run(self, task_id: str = TASK_ID, **parameters: object) -> None:
        """Begin a task of a voice that hums."""
        parameters = {"voice": "hum", "format": "pcm", **parameters}
        self.send(
            "run-task",
            task_id=task_id,
            model="cosyvoice-v2",
            input={},
            parameters=parameters,
        )

    def say(self, text: str, task_id: str = TASK_ID) -> None:
        self.send("continue-task", task_id=task_id, input={"text": text})

    def finish(self, task_id: str = TASK_ID) -> None:
        self.send("finish-task", task_id=task_id, input={})

    def cancel(self, task_id: str = TASK_ID) -> None:
        self.send("finish-task", task_id=task_id, input={"directive": "cancel"})

    def receive(self, timeout_s: float = PATIENCE_S) -> Told:
        """Take an event, or audio."""
        message = self.connection.recv(timeout=timeout_s)
        if isinstance(message, bytes):
            return Told(audio=message)
        return Told(**json.loads(message))

    def until(self, event: str) -> list[Told]:
        """Take everything up to an event."""
        taken = [self.receive()]
        while taken[-1].event != event:
            taken.append(self.receive())
        return taken

    def failure(self) -> dict[str, Any]:
        """Take everything up to a failure; give its header."""
        return self.until("task-failed")[-1].header


@contextmanager
def talking(server: Running) -> Iterator[BareSocket]:
    with connect(address(server), open_timeout=PATIENCE_S) as connection:
        yield BareSocket(connection)
