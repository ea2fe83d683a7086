"""Wyoming: what Home Assistant asks, and what strangers send instead."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeStopped,
    SynthesizeVoice,
)

from cosykit.config.schema import ServerSettings
from cosykit.errors import ConfigError, ResourceError
from cosykit.server.ports import further_ports
from cosykit.server.run import open_listener
from cosykit.server.service import SpeechService
from tests.patience import PATIENCE_S, until_soon
from tests.server.conftest import engine_of, open_connections, settings_for
from tests.server.wire import wired
from tests.synthesis.looping import held

pytestmark = pytest.mark.usefixtures("plugins")


@asynccontextmanager
async def serving(
    model: str = "tone", engine: Mapping[str, object] | None = None, **server: object
) -> AsyncGenerator[SpeechService]:
    """Serve Wyoming in the event loop of a test."""
    server = {"wyoming_port": 0, **server}
    service = SpeechService(settings_for(model, server=server, engine=engine))
    async with further_ports(service):
        service.start()
        try:
            await service.loaded()
            yield service
        finally:
            await service.close()


def client_of(service: SpeechService) -> AsyncTcpClient:
    return AsyncTcpClient(
        "127.0.0.1", service.ports["wyoming"], read_timeout=PATIENCE_S
    )


async def heard(client: AsyncTcpClient, last: str) -> list[Event]:
    """Listen until an event of a type, or the end of the connection."""
    events = []
    while event := await client.read_event():
        events.append(event)
        if event.type == last:
            break
    return events


def audio_in(events: list[Event]) -> bytes:
    return b"".join(
        AudioChunk.from_event(event).audio
        for event in events
        if AudioChunk.is_type(event.type)
    )


async def failure(client: AsyncTcpClient, event: Event) -> Error:
    """Send what fails; the connection is closed after the error."""
    await client.write_event(event)
    error = (await heard(client, "error"))[-1]
    assert await client.read_event() is None
    return Error.from_event(error)


async def test_home_assistant_finds_the_voices() -> None:
    async with serving() as service, client_of(service) as client:
        await client.write_event(Describe().event())
        (event,) = await heard(client, "info")
        (program,) = Info.from_event(event).tts
        assert program.installed
        assert program.supports_synthesize_streaming
        (voice,) = program.voices
        assert (voice.name, voice.languages) == ("hum", ["en", "zh", "ja"])


async def test_ping_is_answered() -> None:
    async with serving() as service, client_of(service) as client:
        await client.write_event(Ping("hello").event())
        (event,) = await heard(client, "pong")
        assert Pong.from_event(event).text == "hello"


@pytest.mark.parametrize(
    "voice", [None, SynthesizeVoice(name="hum"), SynthesizeVoice(language="zh-CN")]
)
async def test_text_is_spoken(voice: SynthesizeVoice | None) -> None:
    async with serving() as service, client_of(service) as client:
        # A connection may be used again.
        for _ in range(2):
            await client.write_event(Synthesize("do re", voice=voice).event())
            events = await heard(client, "audio-stop")
            start = AudioStart.from_event(events[0])
            assert (start.rate, start.width, start.channels) == (24_000, 2, 1)
            assert AudioStop.is_type(events[-1].type)
            audio = audio_in(events)
            assert len(audio) == 2 * round(4 * 0.08 * 24_000)
            assert np.frombuffer(audio, np.int16).any()


async def test_text_in_pieces_is_spoken_while_it_comes() -> None:
    async with serving("counting") as service, client_of(service) as client:
        await client.write_event(SynthesizeStart().event())
        long = "One two three four five six seven eight nine ten eleven twelve. "
        await client.write_event(SynthesizeChunk(long * 3).event())
        early = await heard(client, "audio-chunk")
        assert AudioStart.is_type(early[0].type)
        # Home Assistant repeats the text for servers that do not know pieces.
        await client.write_event(Synthesize("all of it").event())
        await client.write_event(SynthesizeChunk("Last").event())
        await client.write_event(SynthesizeStop().event())
        events = early + await heard(client, "synthesize-stopped")
        types = [event.type for event in events]
        assert types.count("audio-start") == types.count("audio-stop") == 1
        assert types[-2:] == ["audio-stop", "synthesize-stopped"]
        assert SynthesizeStopped.is_type(types[-1])
        assert len(audio_in(events)) == 2 * 37 * 2_400
        # Another text may follow.
        await client.write_event(Synthesize("more").event())
        assert len(audio_in(await heard(client, "audio-stop"))) == 2 * 2_400


async def test_several_connections_are_served_at_once() -> None:
    async with serving() as service:

        async def speak() -> int:
            async with client_of(service) as client:
                await client.write_event(Synthesize("do re mi").event())
                return len(audio_in(await heard(client, "audio-stop")))

        sizes = await asyncio.gather(*(speak() for _ in range(20)))
        assert set(sizes) == {2 * round(6 * 0.08 * 24_000)}


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (Synthesize("do", SynthesizeVoice(name="nobody")).event(), "not_found"),
        (Synthesize("do", SynthesizeVoice("hum", speaker="x")).event(), "invalid"),
        (Synthesize("").event(), "invalid"),
        (Synthesize("x" * 4097).event(), "invalid"),
        (Synthesize("do", text_format="ssml").event(), "invalid"),
        (Event("synthesize", {"text": 5}), "invalid"),
        (Event("synthesize", {}), "invalid"),
        (Event("synthesize", {"text": "do", "voice": "hum"}), "invalid"),
        (SynthesizeChunk("do").event(), "invalid"),
        (SynthesizeStop().event(), "invalid"),
        (SynthesizeStart(SynthesizeVoice(name="nobody")).event(), "not_found"),
    ],
)
async def test_what_cannot_be_done_is_told(event: Event, code: str) -> None:
    async with serving() as service, client_of(service) as client:
        error = await failure(client, event)
        assert error.text
        assert error.code and error.code.startswith(code)


async def test_unknown_events_are_passed_over() -> None:
    async with serving() as service, client_of(service) as client:
        await client.write_event(Event("transcribe", {"a": 1}, b"payload"))
        await client.write_event(Ping().event())
        assert (await heard(client, "pong"))[-1].type == "pong"


async def test_speech_that_fails_has_no_end() -> None:
    async with serving("counting") as service, client_of(service) as client:
        await client.write_event(Synthesize("one two fail").event())
        events = await heard(client, "error")
        types = [event.type for event in events]
        assert "audio-chunk" in types
        assert "audio-stop" not in types
        assert await client.read_event() is None


@pytest.mark.parametrize(
    "asked",
    [
        [Synthesize("one wait two").event()],
        [
            SynthesizeStart().event(),
            SynthesizeChunk("One wait two. " * 10).event(),
        ],
        [
            SynthesizeStart().event(),
            SynthesizeChunk("One wait two. ").event(),
            SynthesizeStop().event(),
        ],
    ],
)
async def test_client_that_leaves_ends_its_speech(asked: list[Event]) -> None:
    async with serving("counting") as service:
        engine = engine_of(service)
        async with client_of(service) as client:
            for event in asked:
                await client.write_event(event)
            await heard(client, "audio-chunk")
            await held(engine)
        assert await asyncio.to_thread(engine.cancelled.get, timeout=PATIENCE_S)
        engine.gate.set()


async def raw(service: SpeechService, sent: bytes) -> bytes:
    """Send bytes, and give what comes until the server hangs up."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", service.ports["wyoming"]
    )
    try:
        writer.write(sent)
        writer.write_eof()
        async with asyncio.timeout(PATIENCE_S):
            return await reader.read(-1)
    finally:
        writer.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"\n",
        b"nonsense\n",
        b"[]\n",
        b"{}\n",
        b'{"type": 5}\n',
        b'{"type": "ping", "data_length": -1}\n',
        b'{"type": "ping", "data_length": 1e9}\n',
        b'{"type": "ping", "data_length": 3}\n[1]',
        b'{"type": "ping", "data_length": 99999999}\n',
        b'{"type": "ping", "payload_length": 99999999999999}\n',
        b'{"type": "\xff"}\n',
        b"[" * 60_000 + b"\n",
        b"x" * 200_000,
    ],
)
async def test_what_is_no_event_is_told_and_ends_the_connection(sent: bytes) -> None:
    async with serving() as service:
        answer = await raw(service, sent)
        assert json.loads(answer.partition(b"\n")[0])["type"] == "error"
        assert b"pong" in await raw(service, b'{"type": "ping"}\n')


async def test_event_that_breaks_off_ends_the_connection() -> None:
    async with serving() as service:
        for sent in (b"", b'{"type"', b'{"type": "ping", "data_length": 9}\n{}'):
            assert not await raw(service, sent)


events = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["synthesize", "synthesize-start", "synthesize-chunk"])
        | st.text(max_size=9),
        "data": st.dictionaries(
            st.sampled_from(["text", "voice", "text_format"]),
            st.none() | st.text(max_size=9) | st.integers(),
        ),
    }
)
lines = st.lists(events.map(lambda event: json.dumps(event).encode() + b"\n")).map(
    b"".join
)


@pytest.mark.fault("lines of Wyoming are fuzzed", outcome="the next client is answered")
async def test_random_bytes_do_no_harm() -> None:
    async with serving(silence_s=0.5) as service:
        loop = asyncio.get_running_loop()

        @settings(max_examples=100)
        @given(st.binary(max_size=300) | lines)
        def send(sent: bytes) -> None:
            asyncio.run_coroutine_threadsafe(raw(service, sent), loop).result()

        await asyncio.to_thread(send)
        assert b"pong" in await raw(service, b'{"type": "ping"}\n')


async def test_silent_connection_is_closed() -> None:
    async with serving(silence_s=0.2) as service, client_of(service) as client:
        assert (await heard(client, "error"))[0].data["code"] == "silence"
        assert await client.read_event() is None


async def test_slow_client_slows_the_engine() -> None:
    async with serving("counting", {"batch_size": 1}) as service:
        engine = engine_of(service)
        engine.chunk_s = 5.0
        async with client_of(service) as slow, client_of(service) as other:
            await slow.write_event(Synthesize("w " * 400).event())
            await heard(slow, "audio-chunk")
            await other.write_event(Synthesize("do").event())
            await heard(other, "audio-stop")
            assert engine.spoken.count("w") < 100


async def test_client_that_takes_nothing_loses_its_connection() -> None:
    async with serving("counting", {"timeout_s": 0.3}, silence_s=0.2) as service:
        engine_of(service).chunk_s = 20.0
        port = service.ports["wyoming"]
        with wired(port, receive_buffer=4096) as wire:
            wire.send(
                b'{"type": "synthesize", "data": {"text": "%b"}}\n' % (20 * b"w ")
            )
            await until_soon(lambda: open_connections(port) > 0)
            await until_soon(lambda: not open_connections(port))


async def test_speech_under_way_ends_well_when_the_server_closes() -> None:
    async with serving("counting") as service:
        engine = engine_of(service)
        async with client_of(service) as client, client_of(service) as idle:
            await client.write_event(Synthesize("one wait two").event())
            events = await heard(client, "audio-chunk")
            await held(engine)
            closing = asyncio.create_task(service.close())
            assert await idle.read_event() is None
            engine.gate.set()
            events += await heard(client, "audio-stop")
            assert len(audio_in(events)) == 2 * 3 * 2_400
            await closing


@pytest.mark.parametrize("in_pieces", [False, True])
async def test_speech_that_outlives_the_grace_is_told_why_it_ends(
    in_pieces: bool,
) -> None:
    text = 3 * "wait two three four five six seven eight nine ten eleven twelve. "
    whole, pieces = [Synthesize(text)], [SynthesizeStart(), SynthesizeChunk(text)]
    async with serving("counting", grace_s=0.2) as service:
        engine = engine_of(service)
        async with client_of(service) as client:
            for asked in pieces if in_pieces else whole:
                await client.write_event(asked.event())
            await held(engine)
            closing = asyncio.create_task(service.close())
            *_, error = await heard(client, "error")
            assert Error.from_event(error).code == "busy"
            assert await client.read_event() is None
            engine.gate.set()
            await closing


async def test_port_that_is_taken_is_refused() -> None:
    with open_listener(ServerSettings(port=0)) as taken:
        port = taken.getsockname()[1]
        service = SpeechService(settings_for("tone", server={"wyoming_port": port}))
        async with further_ports(service):
            with pytest.raises(ResourceError, match="in use"):
                await service.loaded()


@pytest.mark.parametrize(
    ("host", "opens"), [("127.0.0.1", True), ("localhost", True), ("0.0.0.0", False)]
)
async def test_keys_and_wyoming_go_together_on_this_machine_alone(
    host: str, *, opens: bool
) -> None:
    server = {"wyoming_port": 0, "api_keys": ["secret"], "host": host}
    service = SpeechService(settings_for("tone", server=server))
    async with further_ports(service):
        assert bool(service.ports) == opens
        if not opens:
            with pytest.raises(ConfigError, match="clients of Wyoming have none"):
                await service.loaded()
