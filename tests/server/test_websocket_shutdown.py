"""A server that stops lets the speech over its WebSockets end."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
import uvicorn
from starlette.types import Message
from starlette.websockets import WebSocket

from cosykit.config.schema import ServerSettings
from cosykit.engines.synthesizer import Synthesizer
from cosykit.server.app import SOCKETS
from cosykit.server.run import create_server, open_listener
from cosykit.server.service import SpeechService
from tests.patience import PATIENCE_S
from tests.server.conftest import Running, settings_for
from tests.server.dashscope.conftest import TASK_ID, talking
from tests.server.speaker import connected
from tests.synthesis.counting_engine import CountingEngine


@contextmanager
def stoppable(grace_s: float) -> Iterator[tuple[Running, uvicorn.Server]]:
    """Run a server that can be told to stop before the block is left."""
    service = SpeechService(settings_for("counting", server={"grace_s": grace_s}))
    server = create_server(service)
    with open_listener(ServerSettings(port=0)) as listener:
        thread = Thread(target=server.run, args=([listener],))
        thread.start()
        running = Running(service, listener.getsockname()[1])
        try:
            yield running, server
        finally:
            running.engine.gate.set()
            server.should_exit = True
            thread.join(PATIENCE_S)
            assert not thread.is_alive()


async def test_what_has_come_is_spoken_before_the_server_stops(plugins: None) -> None:
    with stoppable(grace_s=PATIENCE_S) as (running, server):
        async with connected(running) as speaker, connected(running) as idle:
            await speaker.say("start", response_format="pcm")
            await speaker.say("text", text="This waits and ends. And so does")
            await speaker.hear_until("sentence_begin")
            assert await asyncio.to_thread(running.engine.held.wait, PATIENCE_S)
            server.should_exit = True
            # One that says nothing is closed while the other still speaks.
            assert await idle.hear_close() == 1012
            assert not idle.told
            running.engine.gate.set()
            await speaker.hear_until("finished")
            assert await speaker.hear_close() == 1012
            assert len(speaker.audio) == 7 * 4800
            assert speaker.texts() == ["This waits and ends.", " And so does"]


async def test_speech_that_takes_too_long_is_broken_off_in_words(plugins: None) -> None:
    with stoppable(grace_s=0) as (running, server):
        async with connected(running) as speaker:
            await speaker.say("start", response_format="pcm")
            await speaker.say("text", text="This waits for ever, I am afraid.")
            await speaker.say("finish")
            await speaker.hear_until("sentence_begin")
            server.should_exit = True
            assert await speaker.hear_close() == 1012
            assert speaker.told[-1]["type"] == "error"
            assert speaker.told[-1]["code"] == "busy"


def test_task_that_takes_too_long_is_broken_off_in_words(
    plugins: None, caplog: pytest.LogCaptureFixture
) -> None:
    with stoppable(grace_s=0) as (running, server), talking(running) as talk:
        talk.run(voice="only")
        talk.say("This waits for ever, I am afraid.")
        talk.finish()
        talk.until("result-generated")
        server.should_exit = True
        failure = talk.failure()
        assert failure["task_id"] == TASK_ID
        assert "the server is closing" in failure["error_message"]
    assert not [record for record in caplog.records if record.exc_info]


START: object = {"type": "start"}
RUN: object = {
    "header": {"action": "run-task", "task_id": TASK_ID},
    "payload": {"model": "cosyvoice-v2", "input": {}, "parameters": {"voice": "only"}},
}


@pytest.mark.parametrize(
    ("path", "first"), [("/v1/audio/speech/ws", START), ("/api-ws/v1/inference", RUN)]
)
async def test_client_that_takes_nothing_is_left_without_a_word(
    path: str, first: object
) -> None:
    said: asyncio.Queue[Message] = asyncio.Queue()
    said.put_nowait({"type": "websocket.connect"})
    said.put_nowait({"type": "websocket.receive", "text": json.dumps(first)})
    is_waited_for = asyncio.Event()

    async def take(message: Message) -> None:
        if message["type"] != "websocket.accept":
            is_waited_for.set()
            await asyncio.Event().wait()

    service = SpeechService(
        settings_for("counting"), open_model=lambda _: Synthesizer(CountingEngine())
    )
    service.start()
    scope = {"type": "websocket", "headers": [], "path": path, "subprotocols": []}
    talking = asyncio.ensure_future(
        SOCKETS[path](WebSocket(scope, said.get, take), service)
    )
    async with asyncio.timeout(PATIENCE_S):
        await is_waited_for.wait()
        # The grace has run out, and then the event loop ends.
        while not talking.done():
            talking.cancel()
            await asyncio.sleep(0)
        await talking
    await service.close()
