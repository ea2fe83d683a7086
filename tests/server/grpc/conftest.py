"""Real servers of gRPC, and clients that know the messages."""

import logging
import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

import grpc
import pytest

from cosykit.config.schema import Settings
from cosykit.server.grpc import speech_pb2 as messages
from cosykit.server.ports import further_ports
from cosykit.server.service import SpeechService
from tests.patience import PATIENCE_S
from tests.server.conftest import Running, running, settings_for

Metadata = tuple[tuple[str, str], ...]


class Client:
    """A client that was made from speech.proto."""

    def __init__(self, channel: grpc.Channel, metadata: Metadata = ()) -> None:
        self.channel = channel
        self._metadata = metadata
        self._synthesize = channel.unary_stream(
            "/cosykit.v1.Speech/Synthesize",
            messages.SynthesizeRequest.SerializeToString,
            messages.AudioChunk.FromString,
        )
        self._stream_tts = channel.stream_stream(
            "/cosykit.v1.Speech/StreamTTS",
            messages.StreamRequest.SerializeToString,
            messages.StreamResponse.FromString,
        )
        self._list_voices = channel.unary_unary(
            "/cosykit.v1.Speech/ListVoices",
            messages.ListVoicesRequest.SerializeToString,
            messages.ListVoicesResponse.FromString,
        )

    def synthesize(
        self,
        request: messages.SynthesizeRequest,
        timeout_s: float = PATIENCE_S,
    ) -> "grpc._CallIterator[messages.AudioChunk]":
        return self._synthesize(request, timeout=timeout_s, metadata=self._metadata)

    def stream_tts(
        self, requests: Iterable[messages.StreamRequest], timeout_s: float = PATIENCE_S
    ) -> "grpc._CallIterator[messages.StreamResponse]":
        return self._stream_tts(
            iter(requests), timeout=timeout_s, metadata=self._metadata
        )

    def list_voices(self, model: str = "") -> messages.ListVoicesResponse:
        return self._list_voices(
            messages.ListVoicesRequest(model=model),
            timeout=PATIENCE_S,
            metadata=self._metadata,
        )

    def raw(self, method: str) -> "grpc.StreamStreamMultiCallable[bytes, bytes]":
        """Give a method, by its full name, that takes and gives any messages."""
        return self.channel.stream_stream(
            f"/{method}",
            request_serializer=bytes,
            response_deserializer=bytes,
        )

    def audio_of(self, text: str, voice: str = "", audio_format: str = "pcm") -> bytes:
        """Speak a text to its end."""
        request = messages.SynthesizeRequest(
            text=text, voice=voice, format=audio_format
        )
        return b"".join(chunk.audio for chunk in self.synthesize(request))


def failure(work: Callable[[], object]) -> grpc.Call:
    """Do what fails, and give how."""
    with pytest.raises(grpc.RpcError) as caught:
        work()
    assert isinstance(caught.value, grpc.Call)
    return caught.value


def trailing(call: grpc.Call) -> dict[str, str]:
    return {key: str(value) for key, value in call.trailing_metadata() or ()}


@contextmanager
def noted(line: str) -> Iterator[threading.Event]:
    """Set an event when the server logs a line that begins so."""

    class Waiting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage().startswith(line):
                event.set()

    event, handler = threading.Event(), Waiting()
    logger = logging.getLogger("cosykit.access")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield event
    logger.setLevel(level)
    logger.removeHandler(handler)


@contextmanager
def connected(server: Running, metadata: Metadata = ()) -> Iterator[Client]:
    """Connect a client to the port of gRPC."""
    address = f"127.0.0.1:{server.service.ports['grpc']}"
    # Channels to one address share a connection unless they differ.
    options = [("grpc.use_local_subchannel_pool", 1)]
    with grpc.insecure_channel(address, options) as channel:
        yield Client(channel, metadata)


@asynccontextmanager
async def serving(settings: Settings) -> AsyncGenerator[SpeechService]:
    """Serve gRPC in the event loop of a test."""
    service = SpeechService(settings)
    async with further_ports(service):
        service.start()
        try:
            await service.loaded()
            yield service
        finally:
            await service.close()


def grpc_settings(
    model: str, engine: Mapping[str, object] | None = None, **server: object
) -> Settings:
    """Configure a server that speaks gRPC too."""
    return settings_for(model, server={"grpc_port": 0, **server}, engine=engine)


@pytest.fixture(scope="module")
def humming(plugins: None) -> Iterator[Running]:
    """A server that hums; for tests that leave nothing behind."""
    with running(grpc_settings("tone")) as server:
        yield server


@pytest.fixture(scope="module")
def hum(humming: Running) -> Iterator[Client]:
    with connected(humming) as client:
        yield client


@pytest.fixture
def counted(plugins: None) -> Iterator[Running]:
    """A server whose engine can be held, speaking one request at a time."""
    with running(grpc_settings("counting", {"batch_size": 1})) as server:
        yield server


@pytest.fixture
def count(counted: Running) -> Iterator[Client]:
    with connected(counted) as client:
        yield client
