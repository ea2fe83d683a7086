"""Messages that nobody would send: each ends with a status, soon."""

from contextlib import suppress

import grpc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cosykit.server.grpc import speech_pb2 as messages
from tests.patience import PATIENCE_S
from tests.server.grpc.conftest import Client

METHODS = (
    "cosykit.v1.Speech/Synthesize",
    "cosykit.v1.Speech/StreamTTS",
    "cosykit.v1.Speech/ListVoices",
    "grpc.health.v1.Health/Check",
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
)
Code = grpc.StatusCode
REFUSALS = {Code.INVALID_ARGUMENT, Code.NOT_FOUND, Code.UNAVAILABLE}

texts = st.text(max_size=20)
asked = st.builds(
    messages.SynthesizeRequest,
    text=texts,
    model=st.sampled_from(["", "auto", "tone", "../lite"]) | texts,
    voice=st.sampled_from(["", "hum", "../hum"]) | texts,
    language=st.sampled_from(["", "zh", "en"]) | texts,
    format=st.sampled_from(["", "wav", "mp3", "opus", "pcm"]) | texts,
    sample_rate=st.sampled_from([0, 8000, 48_000]) | st.integers(0, 2**32 - 1),
    speed=st.none() | st.floats(),
    volume=st.none() | st.floats(),
    seed=st.none() | st.integers(0, 2**32 - 1),
    sampling=st.none()
    | st.builds(
        messages.Sampling,
        top_p=st.floats(),
        top_k=st.integers(0, 9999),
        win_size=st.integers(0, 9999),
        tau_r=st.floats(),
    ),
    instructions=texts,
    prompt=st.none() | st.builds(messages.Prompt, audio=st.binary(), text=texts),
)
actions = st.one_of(
    st.builds(messages.StreamRequest, config=asked),
    st.builds(messages.StreamRequest, text=texts),
    st.sampled_from(
        [
            messages.StreamRequest(),
            messages.StreamRequest(flush=messages.Flush()),
            messages.StreamRequest(interrupt=messages.Interrupt()),
            messages.StreamRequest(finish=messages.Finish()),
        ]
    ),
)
fuzzed = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def status_of(client: Client, method: str, sent: list[bytes]) -> grpc.StatusCode:
    call = client.raw(method)(iter(sent), timeout=PATIENCE_S)
    with suppress(grpc.RpcError):
        for _ in call:
            pass
    return call.code()


@pytest.mark.fault("bytes on gRPC's methods are fuzzed", outcome="a status, always")
@pytest.mark.parametrize("method", METHODS)
@fuzzed
@given(sent=st.lists(st.binary(max_size=200), max_size=3))
def test_random_bytes_end_with_a_status(
    hum: Client, method: str, sent: list[bytes]
) -> None:
    assert status_of(hum, method, sent) != Code.DEADLINE_EXCEEDED


@pytest.mark.fault("requests of gRPC are fuzzed", outcome="spoken or refused")
@fuzzed
@given(message=asked)
def test_random_requests_are_spoken_or_refused(
    hum: Client, message: messages.SynthesizeRequest
) -> None:
    sent = [message.SerializeToString()]
    code = status_of(hum, "cosykit.v1.Speech/Synthesize", sent)
    assert code in {Code.OK, *REFUSALS}


@pytest.mark.fault("streams of gRPC are fuzzed", outcome="spoken or refused")
@fuzzed
@given(stream=st.lists(actions, max_size=6))
def test_random_streams_are_spoken_or_refused(
    hum: Client, stream: list[messages.StreamRequest]
) -> None:
    sent = [message.SerializeToString() for message in stream]
    code = status_of(hum, "cosykit.v1.Speech/StreamTTS", sent)
    assert code in {Code.OK, *REFUSALS}
