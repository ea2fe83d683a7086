"""The port of gRPC: taken, closed in good order, and left to those who send nothing."""

import asyncio
import socket

import grpc
import grpc.aio
import pytest
from google.protobuf.message import Message

from cosykit.config.schema import ServerSettings
from cosykit.errors import ResourceError
from cosykit.server.grpc import speech_pb2 as messages
from cosykit.server.ports import further_ports
from cosykit.server.run import open_listener, serve
from cosykit.server.service import SpeechService
from tests.patience import PATIENCE_S
from tests.server.conftest import engine_of
from tests.server.grpc.conftest import grpc_settings, serving
from tests.synthesis.looping import held

pytestmark = pytest.mark.usefixtures("plugins")


def asking(
    channel: grpc.aio.Channel, text: str
) -> "grpc.aio.UnaryStreamCall[Message, messages.AudioChunk]":
    call = channel.unary_stream(
        "/cosykit.v1.Speech/Synthesize",
        messages.SynthesizeRequest.SerializeToString,
        messages.AudioChunk.FromString,
    )
    request = messages.SynthesizeRequest(text=text, format="pcm")
    return call(request, timeout=PATIENCE_S)


def address_of(service: SpeechService) -> str:
    return f"127.0.0.1:{service.ports['grpc']}"


@pytest.mark.usefixtures("untouched_logging")
def test_port_that_is_taken_ends_the_server_with_a_remedy() -> None:
    with open_listener(ServerSettings(port=0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ResourceError, match="in use") as caught:
            serve(grpc_settings("tone", port=0, grpc_port=port))
    assert "server.grpc_port" in caught.value.hint


async def test_two_servers_do_not_share_a_port() -> None:
    async with serving(grpc_settings("tone")) as first:
        port = first.ports["grpc"]
        service = SpeechService(grpc_settings("tone", grpc_port=port))
        async with further_ports(service):
            assert isinstance(service.failure, ResourceError)
            with pytest.raises(ResourceError):
                await service.loaded()


async def test_call_under_way_ends_well_while_newcomers_are_refused() -> None:
    async with serving(grpc_settings("counting")) as service:
        engine = engine_of(service)
        async with grpc.aio.insecure_channel(address_of(service)) as channel:
            call = asking(channel, "one wait two")
            assert await call.read()
            await held(engine)
            closing = asyncio.create_task(service.close())
            await service.closing.wait()
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                async for _ in asking(channel, "three"):
                    pass
            assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
            engine.gate.set()
            while await call.read():
                pass
            assert await call.code() == grpc.StatusCode.OK
            assert engine.spoken == ["one", "wait", "two"]
            await closing


async def test_call_that_outlives_the_grace_is_broken_off() -> None:
    async with serving(grpc_settings("counting", grace_s=0.2)) as service:
        engine = engine_of(service)
        async with grpc.aio.insecure_channel(address_of(service)) as channel:
            call = asking(channel, "one wait two")
            await call.read()
            await held(engine)
            closing = asyncio.create_task(service.close())
            with pytest.raises((grpc.aio.AioRpcError, asyncio.CancelledError)):
                while await call.read():
                    pass
            assert await call.code() == grpc.StatusCode.UNAVAILABLE
            assert "the server is closing" in str(await call.details())
            assert ("cosykit-code", "busy") in list(await call.trailing_metadata())
            engine.gate.set()
            await closing


async def test_call_without_a_message_is_given_up() -> None:
    async with (
        serving(grpc_settings("tone", silence_s=0.2)) as service,
        grpc.aio.insecure_channel(address_of(service)) as channel,
    ):
        for method in ("Synthesize", "StreamTTS", "ListVoices"):
            ask = channel.stream_stream(
                f"/cosykit.v1.Speech/{method}", bytes, messages.AudioChunk.FromString
            )
            call = ask(timeout=PATIENCE_S)
            assert await call.code() == grpc.StatusCode.INVALID_ARGUMENT


async def test_connection_that_says_nothing_is_closed() -> None:
    async with serving(grpc_settings("tone", silence_s=0.2)) as service:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", service.ports["grpc"]
        )
        async with asyncio.timeout(PATIENCE_S):
            await reader.read(-1)
        writer.close()


async def test_what_is_not_http2_does_no_harm() -> None:
    async with serving(grpc_settings("tone")) as service:
        for sent in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 1000, b"PRI * HTTP/2.0\r\n"):
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", service.ports["grpc"], family=socket.AF_INET
            )
            writer.write(sent)
            writer.write_eof()
            async with asyncio.timeout(PATIENCE_S):
                await reader.read(-1)
            writer.close()
        async with grpc.aio.insecure_channel(address_of(service)) as channel:
            assert [chunk async for chunk in asking(channel, "do")]
