"""`Synthesize` and `ListVoices`: what they answer, refuse and hold back."""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from itertools import pairwise

import grpc
import pytest

from cosykit.audio.decode import decode_audio
from cosykit.audio.formats import AUDIO_FORMATS
from cosykit.server.grpc import speech_pb2 as messages
from cosykit.synthesis.waiting import Pace
from tests.patience import PATIENCE_S
from tests.server.conftest import Running, running
from tests.server.grpc.conftest import (
    Client,
    connected,
    failure,
    grpc_settings,
    noted,
    trailing,
)
from tests.synthesis.counting_engine import RATE

Asked = messages.SynthesizeRequest


@pytest.mark.parametrize("audio_format", AUDIO_FORMATS)
def test_text_is_spoken_in_every_format(hum: Client, audio_format: str) -> None:
    chunks = list(hum.synthesize(Asked(text="do re mi", format=audio_format)))
    audio = b"".join(chunk.audio for chunk in chunks)
    assert len({chunk.sample_rate for chunk in chunks}) == 1
    if audio_format == "pcm":
        assert len(audio) == 2 * round(6 * 0.08 * chunks[0].sample_rate)
    else:
        samples, rate = decode_audio(audio)
        assert samples.size / rate == pytest.approx(6 * 0.08, abs=0.1)


def test_what_is_left_out_is_as_configured(hum: Client) -> None:
    assert hum.audio_of("do", audio_format="")[:4] == b"RIFF"


def test_fields_shape_the_audio(hum: Client) -> None:
    def audio(asked: messages.SynthesizeRequest) -> bytes:
        asked.text, asked.format = "do", "pcm"
        return b"".join(chunk.audio for chunk in hum.synthesize(asked))

    plain = audio(Asked(model="auto", voice="hum", language="en", seed=0))
    assert plain == audio(Asked())
    assert len(audio(Asked(speed=2))) == len(plain) // 2
    assert len(audio(Asked(sample_rate=8000))) == len(plain) // 3
    # Whoever asks for silence gets it.
    assert not any(audio(Asked(volume=0)))


def test_headers_tell_of_the_model_and_the_request(humming: Running) -> None:
    with connected(humming, (("x-request-id", "mine-1"),)) as client:
        call = client.synthesize(Asked(text="do"))
        headers = dict(call.initial_metadata() or ())
        list(call)
    assert headers["x-cosykit-model"] == "tone"
    assert headers["x-request-id"] == "mine-1"


def test_large_pieces_come_in_messages_that_every_client_takes(hum: Client) -> None:
    # One word is one piece of 8 s, which FLAC would make smaller.
    asked = Asked(text="a" * 100, format="wav", sample_rate=48_000)
    sizes = [len(chunk.audio) for chunk in hum.synthesize(asked)]
    assert sum(sizes) > 700_000
    assert max(sizes) <= 1 << 18


def test_voices_are_listed(hum: Client) -> None:
    (voice,) = hum.list_voices().voices
    assert (voice.id, voice.name) == ("hum", "Hum")
    assert list(voice.languages) == ["en", "zh", "ja"]


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        (Asked(), "text"),
        (Asked(text="x" * 4097), "text"),
        (Asked(text="do", language="tlh"), "language"),
        (Asked(text="do", format="ogg"), "format"),
        (Asked(text="do", sample_rate=5), "sample_rate"),
        (Asked(text="do", sample_rate=44_100, format="opus"), "sample_rate"),
        (Asked(text="do", speed=9), "speed"),
        (Asked(text="do", speed=float("nan")), "speed"),
        (Asked(text="do", volume=-1), "volume"),
        (Asked(text="do", voice="x" * 257), "voice"),
        (Asked(text="do", instructions="x" * 4097), "instructions"),
        (Asked(text="do", instructions="merrily"), "instructions"),
        (Asked(text="do", sampling=messages.Sampling(top_k=0)), "top_k"),
        (Asked(text="do", sampling=messages.Sampling(tau_r=2.5)), "tau_r"),
        (Asked(text="do", sampling=messages.Sampling(top_p=2)), "top_p"),
        (Asked(text="do", prompt=messages.Prompt(text="do")), "audio"),
        (Asked(text="do", prompt=messages.Prompt(audio=b"#EXTM3U")), "prompt"),
    ],
)
def test_wrong_field_is_named(
    hum: Client, asked: messages.SynthesizeRequest, param: str
) -> None:
    call = failure(lambda: list(hum.synthesize(asked)))
    assert call.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert call.details()
    about = trailing(call)
    assert about["cosykit-code"] == "invalid_input"
    assert about["cosykit-param"] == param


def test_unknown_voice_is_not_found(hum: Client) -> None:
    call = failure(lambda: hum.audio_of("do", voice="nobody"))
    assert call.code() == grpc.StatusCode.NOT_FOUND
    assert trailing(call)["cosykit-param"] == "voice"


def test_larger_message_than_allowed_is_refused(hum: Client) -> None:
    call = failure(lambda: hum.audio_of("x" * (5 << 20)))
    assert call.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_stream_that_fails_does_not_end_well(count: Client) -> None:
    chunks = count.synthesize(Asked(text="one two fail", format="pcm"))
    assert next(chunks).audio
    call = failure(lambda: list(chunks))
    assert call.code() == grpc.StatusCode.UNAVAILABLE
    assert call.details() == "the disk is full. Free some space"


def test_bug_is_told_without_its_insides(count: Client) -> None:
    call = failure(lambda: count.audio_of("one bug"))
    assert call.code() == grpc.StatusCode.INTERNAL
    assert "Zero" not in (call.details() or "")


def test_client_that_cancels_ends_its_request(count: Client, counted: Running) -> None:
    call = count.synthesize(Asked(text="one wait two", format="pcm"))
    next(call)
    assert counted.engine.held.wait(PATIENCE_S)
    call.cancel()
    assert counted.engine.cancelled.get(timeout=PATIENCE_S)
    counted.engine.gate.set()
    assert count.audio_of("three")
    assert "two" not in counted.engine.spoken


def test_request_whose_client_waits_no_longer_leaves_the_queue(
    count: Client, counted: Running
) -> None:
    first = count.synthesize(Asked(text="one wait", format="pcm"))
    next(first)
    assert counted.engine.held.wait(PATIENCE_S)
    with noted("gRPC Synthesize") as has_left:
        call = failure(lambda: list(count.synthesize(Asked(text="two"), timeout_s=0.2)))
        # Whichever clock is first.
        assert call.code() in (
            grpc.StatusCode.DEADLINE_EXCEEDED,
            grpc.StatusCode.UNAVAILABLE,
        )
        assert has_left.wait(PATIENCE_S)
    assert counted.loop.waiting == 0
    counted.engine.gate.set()
    list(first)
    assert "two" not in counted.engine.spoken


def test_deadline_before_its_turn_is_refused_at_once(
    count: Client, counted: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = count.synthesize(Asked(text="wait", format="pcm"))
    assert counted.engine.held.wait(PATIENCE_S)
    monkeypatch.setattr(Pace, "expected_s", lambda pace, starts, waited_s: 15.0)
    call = failure(lambda: list(count.synthesize(Asked(text="one"), timeout_s=10)))
    assert call.code() == grpc.StatusCode.UNAVAILABLE
    assert "wait longer" in (call.details() or "")
    patient = count.synthesize(Asked(text="two", format="pcm"), timeout_s=20)
    counted.engine.gate.set()
    assert list(held)
    assert list(patient)


def test_deadline_ends_the_request(count: Client, counted: Running) -> None:
    chunks = count.synthesize(Asked(text="one wait two", format="pcm"), timeout_s=0.5)
    call = failure(lambda: list(chunks))
    assert call.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert counted.engine.cancelled.get(timeout=PATIENCE_S)


def test_slow_client_slows_the_engine(counted: Running) -> None:
    words = 2000
    with connected(counted) as slow, connected(counted) as other:
        chunks = slow.synthesize(Asked(text="w " * words, format="pcm"))
        read = len(next(chunks).audio)
        # There is room for another only once the first rests.
        assert other.audio_of("do")
        assert counted.engine.spoken.count("w") < words
        read += sum(len(chunk.audio) for chunk in chunks)
    assert read == words * 2 * round(0.1 * RATE)


@pytest.mark.usefixtures("plugins")
def test_full_queue_is_told_with_when_to_try_again() -> None:
    engine = {"batch_size": 1, "queue_size": 1}
    with (
        running(grpc_settings("counting", engine)) as server,
        connected(server) as client,
        ThreadPoolExecutor() as threads,
    ):
        held = client.synthesize(Asked(text="wait"))
        assert server.engine.held.wait(PATIENCE_S)
        pair = [threads.submit(client.audio_of, word) for word in ("one", "two")]
        (refused,), (waiting,) = wait(pair, return_when=FIRST_COMPLETED)
        call = failure(refused.result)
        assert call.code() == grpc.StatusCode.UNAVAILABLE
        assert int(trailing(call)["retry-after"]) >= 1
        server.engine.gate.set()
        assert list(held)
        assert waiting.result()


@pytest.mark.usefixtures("plugins")
def test_rate_of_an_address_is_bounded() -> None:
    settings = grpc_settings("tone", requests_per_minute_per_address=2)
    with running(settings) as server, connected(server) as client:
        client.audio_of("do")
        client.audio_of("do")
        call = failure(lambda: client.audio_of("do"))
        assert call.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert 1 <= int(trailing(call)["retry-after"]) <= 60
        # Looking around does not count.
        assert client.list_voices()


@pytest.mark.parametrize(
    "shown",
    [("authorization", "Bearer first"), ("x-api-key", "second")],
)
@pytest.mark.usefixtures("plugins")
def test_key_is_asked_for(shown: tuple[str, str]) -> None:
    with running(grpc_settings("tone", api_keys=["first", "second"])) as server:
        for wrong in ((), (("authorization", "Basic first"),), (("x-api-key", "x"),)):
            with connected(server, wrong) as client:
                for work in (lambda: client.audio_of("do"), client.list_voices):
                    call = failure(work)
                    assert call.code() == grpc.StatusCode.UNAUTHENTICATED
        with connected(server, (shown,)) as client:
            assert client.audio_of("do")
            assert client.list_voices()


def test_calls_are_counted_by_their_status(humming: Running, hum: Client) -> None:
    def counts() -> dict[str, float]:
        (family,) = [
            family
            for family in humming.service.metrics.registry.collect()
            if family.name == "cosykit_requests"
        ]
        return {
            sample.labels["status"]: sample.value
            for sample in family.samples
            if sample.labels.get("route") == "gRPC Synthesize"
            and sample.name.endswith("_total")
        }

    seen = [counts()]
    for voice in ("hum", "nobody"):
        with suppress(grpc.RpcError):
            hum.audio_of("do", voice=voice)
        seen.append(counts())
    grown = [
        {status for status in after if after[status] > before.get(status, 0)}
        for before, after in pairwise(seen)
    ]
    assert grown == [{"OK"}, {"NOT_FOUND"}]
