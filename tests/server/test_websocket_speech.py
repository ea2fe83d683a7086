"""Our own WebSocket: text in pieces in, audio out while it still comes."""

import asyncio
import base64
import json
import wave
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from cosykit.server.websocket_speech import PATH
from tests.server.conftest import Running, running, settings_for
from tests.synthesis.counting_engine import PATIENCE_S

Message = Mapping[str, object]


@dataclass
class Speaker:
    """A client that writes down what it hears."""

    socket: ClientConnection
    told: list[Message] = field(default_factory=list)
    audio: bytearray = field(default_factory=bytearray)

    async def say(self, kind: str, **fields: object) -> None:
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def hear(self) -> Message | bytes:
        async with asyncio.timeout(PATIENCE_S):
            heard = await self.socket.recv()
        if isinstance(heard, bytes):
            self.audio += heard
            return heard
        message: Message = json.loads(heard)
        self.told.append(message)
        return message

    async def hear_until(self, kind: str) -> Message:
        while True:
            heard = await self.hear()
            if not isinstance(heard, bytes) and heard["type"] == kind:
                return heard

    async def hear_close(self) -> int:
        """Listen until the server closes; give its code."""
        try:
            while True:
                await self.hear()
        except ConnectionClosed as closed:
            assert closed.rcvd
            return closed.rcvd.code

    def kinds(self) -> Sequence[object]:
        return [message["type"] for message in self.told]

    def texts(self) -> Sequence[object]:
        return [each["text"] for each in self.told if each["type"] == "sentence_begin"]


@asynccontextmanager
async def connected(
    server: Running,
    *,
    headers: Mapping[str, str] | None = None,
    subprotocols: Sequence[str] | None = None,
) -> AsyncGenerator[Speaker]:
    url = f"ws://127.0.0.1:{server.port}{PATH}"
    async with connect(
        url, additional_headers=headers, subprotocols=subprotocols, compression=None
    ) as socket:
        yield Speaker(socket)


async def test_text_in_pieces_becomes_one_stream_of_audio(tone: Running) -> None:
    async with connected(tone) as speaker:
        await speaker.say("start", response_format="wav")
        started = await speaker.hear_until("started")
        assert started == {
            "type": "started",
            "media_type": "audio/wav",
            "sample_rate": 24_000,
            "model": "tone",
        }
        for piece in ("The first sen", "tence is here. And the sec", "ond one is too"):
            await speaker.say("text", text=piece)
        await speaker.say("finish")
        finished = await speaker.hear_until("finished")
        assert speaker.texts() == [
            "The first sentence is here.",
            " And the second one is too",
        ]
        assert speaker.kinds() == [
            "started",
            *("sentence_begin", "sentence_end") * 2,
            "finished",
        ]
        ended = [each for each in speaker.told if each["type"] == "sentence_end"]
        letters = len("Thefirstsentenceishere.Andthesecondoneistoo")
        assert finished["duration_s"] == pytest.approx(0.08 * letters, abs=0.01)
        assert sum(float(str(each["duration_s"])) for each in ended) == pytest.approx(
            finished["duration_s"], abs=0.01
        )
        with wave.open(BytesIO(bytes(speaker.audio))) as sound:
            # A stream does not know its length when its header is sent.
            samples = len(sound.readframes(1 << 30)) // 2
        assert samples / 24_000 == pytest.approx(0.08 * letters, abs=0.01)


async def test_audio_comes_while_the_text_is_still_written(tone: Running) -> None:
    async with connected(tone) as speaker:
        await speaker.say("start", response_format="pcm")
        await speaker.say("text", text="The first sentence is here. Now")
        await speaker.hear_until("sentence_end")
        assert speaker.audio
        await speaker.say("text", text=" comes the second")
        await speaker.say("flush")
        await speaker.hear_until("sentence_end")
        assert speaker.texts()[1] == " Now comes the second"
