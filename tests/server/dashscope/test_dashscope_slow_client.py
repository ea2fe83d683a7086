"""A client that takes its time gets its messages whole and in order."""

import asyncio
import json

from starlette.types import Message
from starlette.websockets import WebSocket

from cosykit.engines.synthesizer import Synthesizer
from cosykit.server.dashscope.socket import inference
from cosykit.server.service import SpeechService
from tests.patience import PATIENCE_S
from tests.server.conftest import settings_for
from tests.server.dashscope.conftest import TASK_ID
from tests.synthesis.counting_engine import CountingEngine

# Of the event loop, until an order has surely been obeyed.
_TURNS = 50


class SlowClient:
    """Takes no audio event before it is told to.

    Attributes:
        is_waited_for: Whether the server waits for it to take one.
        takes: Whether it may.
        taken: The events that it has taken, and `audio` for audio.
    """

    def __init__(self) -> None:
        self.is_waited_for, self.takes = asyncio.Event(), asyncio.Event()
        self.taken: list[str] = []
        self._said: asyncio.Queue[Message] = asyncio.Queue()
        self._said.put_nowait({"type": "websocket.connect"})
        self.socket = WebSocket(
            {"type": "websocket", "headers": [], "path": "/"}, self._said.get, self.take
        )

    def say(self, action: str, **payload: object) -> None:
        header = {"action": action, "task_id": TASK_ID}
        text = json.dumps({"header": header, "payload": payload})
        self._said.put_nowait({"type": "websocket.receive", "text": text})

    def leave(self) -> None:
        self._said.put_nowait({"type": "websocket.disconnect", "code": 1000})

    async def take(self, message: Message) -> None:
        if "sentence-synthesis" in (message.get("text") or ""):
            self.is_waited_for.set()
            await self.takes.wait()
        if message["type"] == "websocket.send":
            self.taken.append("audio" if message.get("bytes") else message["text"])


async def test_event_and_audio_are_not_parted_by_a_cancelled_task() -> None:
    service = SpeechService(
        settings_for("counting"), open_model=lambda _: Synthesizer(CountingEngine())
    )
    service.start()
    client = SlowClient()
    talking = asyncio.create_task(inference(client.socket, service))
    parameters = {"voice": "only", "format": "pcm"}
    client.say("run-task", model="cosyvoice-v2", input={}, parameters=parameters)
    client.say("continue-task", input={"text": "one two three four.", "flush": True})
    async with asyncio.timeout(PATIENCE_S):
        await client.is_waited_for.wait()
        client.say("finish-task", input={"directive": "cancel"})
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        client.takes.set()
        client.leave()
        await talking
    await service.close()
    started, begun, event, audio, finished = client.taken
    assert "task-started" in started
    assert "sentence-begin" in begun
    assert "sentence-synthesis" in event
    assert audio == "audio"
    assert "task-finished" in finished
