"""A client that knows nothing but the address: reflection, then calls."""

import grpc
import pytest
from google.protobuf import descriptor_pool, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from tests.patience import PATIENCE_S
from tests.server.grpc.conftest import Client


@pytest.fixture(scope="module")
def pool(hum: Client) -> descriptor_pool.DescriptorPool:
    """What the server tells of itself."""
    database = ProtoReflectionDescriptorDatabase(hum.channel)
    assert set(database.get_services()) == {
        "cosykit.v1.Speech",
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
    }
    return descriptor_pool.DescriptorPool(database)


def test_text_is_spoken_with_messages_that_the_server_describes(
    hum: Client, pool: descriptor_pool.DescriptorPool
) -> None:
    speech = pool.FindServiceByName("cosykit.v1.Speech")
    method = speech.FindMethodByName("Synthesize")
    assert method.server_streaming
    assert not method.client_streaming
    kinds = [
        message_factory.GetMessageClass(kind)
        for kind in (method.input_type, method.output_type)
    ]
    ask = hum.channel.unary_stream(
        f"/{speech.full_name}/{method.name}",
        kinds[0].SerializeToString,
        kinds[1].FromString,
    )
    asked = kinds[0]()
    for field, value in (("text", "do re"), ("format", "pcm"), ("speed", 2.0)):
        setattr(asked, field, value)
    chunks = list(ask(asked, timeout=PATIENCE_S))
    sizes = [len(getattr(chunk, "audio")) for chunk in chunks]  # noqa: B009
    assert sum(sizes) == 2 * round(4 * 0.04 * 24_000)


def test_every_method_is_described_and_offered(
    hum: Client, pool: descriptor_pool.DescriptorPool
) -> None:
    methods = pool.FindServiceByName("cosykit.v1.Speech").methods
    assert {method.name for method in methods} == {
        "Synthesize",
        "StreamTTS",
        "ListVoices",
    }
    for method in methods:
        call = hum.raw(f"cosykit.v1.Speech/{method.name}")
        with pytest.raises(grpc.RpcError) as caught:
            list(call(iter([b"\xff"]), timeout=PATIENCE_S))
        assert isinstance(caught.value, grpc.Call)
        assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_unknown_method_is_not_implemented(hum: Client) -> None:
    call = hum.raw("cosykit.v1.Speech/Sing")
    with pytest.raises(grpc.RpcError) as caught:
        list(call(iter([b""]), timeout=PATIENCE_S))
    assert isinstance(caught.value, grpc.Call)
    assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED
