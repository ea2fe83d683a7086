"""`StreamTTS`: text in pieces, audio out while more of it comes."""

from collections.abc import Iterable, Iterator
from queue import SimpleQueue

import grpc
import pytest

from cosykit.audio.decode import decode_audio
from cosykit.server.grpc import speech_pb2 as messages
from tests.patience import PATIENCE_S
from tests.server.conftest import Running, running
from tests.server.grpc.conftest import (
    Client,
    connected,
    failure,
    grpc_settings,
    trailing,
)
from tests.synthesis.counting_engine import RATE

Ask = messages.StreamRequest
PCM = Ask(config=messages.SynthesizeRequest(format="pcm"))
FLUSH = Ask(flush=messages.Flush())
INTERRUPT = Ask(interrupt=messages.Interrupt())
FINISH = Ask(finish=messages.Finish())


class Talk:
    """A stream that is fed while it is listened to."""

    def __init__(self, client: Client, *first: messages.StreamRequest) -> None:
        self._requests: SimpleQueue[messages.StreamRequest | None] = SimpleQueue()
        self.say(*first)
        self.call = client.stream_tts(iter(self._requests.get, None))

    def say(self, *requests: messages.StreamRequest) -> None:
        for request in requests:
            self._requests.put(request)

    def hang_up(self) -> None:
        """Send no more, without a word."""
        self._requests.put(None)

    def hear(self, kind: str) -> messages.StreamResponse:
        """Listen until something of a kind happens."""
        return next(event for event in self.call if event.WhichOneof("event") == kind)

    def rest(self) -> list[messages.StreamResponse]:
        """Listen to the end."""
        try:
            return list(self.call)
        finally:
            self.hang_up()


def audio_in(responses: Iterable[messages.StreamResponse]) -> bytes:
    return b"".join(response.audio.audio for response in responses)


@pytest.fixture
def talk(count: Client) -> Iterator[Talk]:
    """Talk to an engine that can be held."""
    talk = Talk(count, PCM)
    yield talk
    talk.call.cancel()
    talk.hang_up()


@pytest.mark.parametrize("audio_format", ["wav", "mp3", "opus", "pcm"])
def test_text_in_pieces_becomes_one_file(hum: Client, audio_format: str) -> None:
    config = messages.SynthesizeRequest(text="Do re", format=audio_format, voice="hum")
    pieces = (Ask(text=" m"), Ask(text="i."), FLUSH, Ask(text=" Fa so."))
    responses = list(hum.stream_tts([Ask(config=config), *pieces, FINISH]))
    kinds = [response.WhichOneof("event") for response in responses]
    assert kinds.count("sentence_began") == kinds.count("sentence_ended") == 2
    ended = [r.sentence_ended for r in responses if r.HasField("sentence_ended")]
    assert [sentence.index for sentence in ended] == [0, 1]
    assert "".join(sentence.text for sentence in ended).split() == [
        *("Do", "re", "mi.", "Fa", "so.")
    ]
    duration_s = sum(sentence.duration for sentence in ended)
    rates = {r.audio.sample_rate for r in responses if r.HasField("audio")}
    audio = audio_in(responses)
    if audio_format == "pcm":
        assert len(audio) == 2 * round(duration_s * rates.pop())
    else:
        samples, rate = decode_audio(audio)
        # Opus is decoded at 48,000 whatever was encoded.
        assert rates == {rate} or audio_format == "opus"
        assert samples.size / rate == pytest.approx(duration_s, abs=0.1)


def test_end_of_the_requests_is_the_end_of_the_text(hum: Client) -> None:
    responses = list(hum.stream_tts([PCM, Ask(text="do re")]))
    assert len(audio_in(responses)) == 2 * round(4 * 0.08 * RATE)


def test_audio_comes_before_the_text_is_complete(talk: Talk) -> None:
    talk.say(Ask(text="One two. "), FLUSH)
    assert talk.hear("audio").audio.audio
    talk.say(Ask(text="three."), FINISH)
    assert talk.hear("sentence_ended").sentence_ended.index == 0
    assert talk.hear("sentence_ended").sentence_ended.text.strip() == "three."
    assert talk.call.code() is None or not talk.rest()


def test_interruption_drops_what_is_being_said(talk: Talk, counted: Running) -> None:
    talk.say(Ask(text="One wait two. Three. "), FLUSH)
    talk.hear("audio")
    assert counted.engine.held.wait(PATIENCE_S)
    talk.say(INTERRUPT)
    talk.hear("interrupted")
    counted.engine.gate.set()
    talk.say(Ask(text="Four."), FINISH)
    responses = talk.rest()
    began = [r.sentence_began for r in responses if r.HasField("sentence_began")]
    assert [sentence.text.strip() for sentence in began] == ["Four."]
    assert len(audio_in(responses)) == 2 * round(0.1 * RATE)
    assert talk.call.code() == grpc.StatusCode.OK
    assert "two." not in counted.engine.spoken


@pytest.mark.parametrize(
    "requests",
    [
        [Ask(text="do")],
        [FINISH],
        [Ask()],
        [PCM, PCM],
        [PCM, Ask()],
        [PCM, Ask(text="do", flush=messages.Flush()), Ask()],
        [Ask(config=messages.SynthesizeRequest(format="ogg"))],
        [Ask(config=messages.SynthesizeRequest(speed=9))],
        [PCM, Ask(text="x" * 300_000)],
        [],
    ],
)
def test_requests_out_of_order_or_wrong_are_refused(
    hum: Client, requests: list[messages.StreamRequest]
) -> None:
    call = failure(lambda: list(hum.stream_tts(requests)))
    assert call.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert trailing(call)["cosykit-code"] == "invalid_input"


def test_unknown_voice_is_refused_before_any_text(hum: Client) -> None:
    talk = Talk(hum, Ask(config=messages.SynthesizeRequest(voice="nobody")))
    call = failure(talk.rest)
    assert call.code() == grpc.StatusCode.NOT_FOUND


def test_stream_that_fails_does_not_end_well(talk: Talk) -> None:
    talk.say(Ask(text="One two. fail"), FLUSH)
    talk.hear("audio")
    call = failure(talk.rest)
    assert call.code() == grpc.StatusCode.UNAVAILABLE


def test_client_that_cancels_ends_the_speech(talk: Talk, counted: Running) -> None:
    talk.say(Ask(text="One wait two. "), FLUSH)
    talk.hear("audio")
    assert counted.engine.held.wait(PATIENCE_S)
    talk.call.cancel()
    assert counted.engine.cancelled.get(timeout=PATIENCE_S)


@pytest.mark.usefixtures("plugins")
def test_silence_of_both_sides_ends_the_stream() -> None:
    settings = grpc_settings("counting", {"timeout_s": 0.3})
    with running(settings) as server, connected(server) as client:
        talk = Talk(client, PCM, Ask(text="One. "), FLUSH)
        talk.hear("audio")
        call = failure(talk.rest)
        assert call.code() == grpc.StatusCode.ABORTED
