"""A text that comes in pieces is one stream of audio, without loss or delay."""

import asyncio
import wave
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from io import BytesIO

import pytest

from cosykit.audio.decode import decode_audio
from cosykit.audio.formats import FORMATS, AudioFormat
from cosykit.config.schema import Settings
from cosykit.engines.synthesizer import Synthesizer
from cosykit.errors import CosykitError, InputError, NotFoundError, ResourceError
from cosykit.server.live import LiveSpeech
from cosykit.server.live_events import (
    EncodedAudio,
    Interrupted,
    LiveEvent,
    SentenceBegan,
    SentenceEnded,
)
from cosykit.server.service import SpeechService
from cosykit.server.speech import Output
from cosykit.types import AudioChunk, SpeechRequest, Voice
from tests.patience import PATIENCE_S, until_soon
from tests.server.conftest import settings_for
from tests.synthesis.counting_engine import RATE, CountingEngine

PCM, MANNER = Output("pcm"), SpeechRequest("")
CHUNK_BYTES = round(0.1 * RATE) * 2


class TwoVoices(CountingEngine):
    """Keeps in mind as whom it was asked to speak, and what."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str | None] = []
        self.texts: list[str] = []

    def voices(self) -> Sequence[Voice]:
        return (Voice("mei", "Mei", ("zh",)), Voice("ann", "Ann", ("en",)))

    def synthesize(self, request: SpeechRequest) -> Iterator[AudioChunk]:
        self.asked.append(request.voice)
        self.texts.append(request.text)
        return super().synthesize(request)


@dataclass
class Stage:
    """A service and its engine."""

    service: SpeechService
    engine: TwoVoices

    def live(self, out: Output = PCM, manner: SpeechRequest = MANNER) -> LiveSpeech:
        return LiveSpeech(self.service, manner, out)


@asynccontextmanager
async def staged(settings: Settings) -> AsyncGenerator[Stage]:
    engine = TwoVoices()
    service = SpeechService(settings, open_model=lambda _: Synthesizer(engine))
    service.start()
    await service.loaded()
    try:
        yield Stage(service, engine)
    finally:
        engine.gate.set()
        await service.close()


@pytest.fixture
async def stage() -> AsyncGenerator[Stage]:
    async with staged(settings_for("two")) as it:
        yield it


async def heard(live: LiveSpeech) -> list[LiveEvent]:
    async with asyncio.timeout(PATIENCE_S), aclosing(live.events()) as events:
        return [event async for event in events]


def audio_of(events: Sequence[LiveEvent]) -> bytes:
    return b"".join(each.piece for each in events if isinstance(each, EncodedAudio))


def texts_of(events: Sequence[LiveEvent]) -> list[str]:
    return [each.text for each in events if isinstance(each, SentenceBegan)]


async def test_sentences_follow_each_other_in_one_stream(stage: Stage) -> None:
    live = stage.live()
    live.feed("The first sentence is here. And here is the sec")
    live.feed("ond one.")
    live.finish()
    events = await heard(live)
    texts = ["The first sentence is here.", " And here is the second one."]
    assert texts_of(events) == texts
    ended = [each for each in events if isinstance(each, SentenceEnded)]
    assert [(each.index, each.text) for each in ended] == [*enumerate(texts)]
    assert [each.duration_s for each in ended] == pytest.approx([0.5, 0.6])
    assert len(audio_of(events)) == 11 * CHUNK_BYTES
    assert live.duration_s == pytest.approx(1.1)
    assert (live.sample_rate, live.model) == (RATE, "counting")
    assert live.media_type == "audio/pcm; rate=24000"


@pytest.mark.parametrize("audio_format", FORMATS)
async def test_stream_is_one_file_of_every_format(
    stage: Stage, audio_format: AudioFormat
) -> None:
    live = stage.live(Output(audio_format, sample_rate=24_000))
    live.feed("The first sentence is here. And here is the second one.")
    live.finish()
    audio = audio_of(await heard(live))
    if audio_format != "pcm":
        samples, rate = decode_audio(audio)
        assert samples.size / rate == pytest.approx(1.1, abs=0.1)


async def test_line_break_is_spoken_only_where_the_text_goes_on(stage: Stage) -> None:
    lines = ["This is the first line\n", "and this is the last line\n"]
    live = stage.live()
    live.feed("".join(lines))
    live.feed("\n ")
    live.finish()
    assert texts_of(await heard(live)) == lines
    assert stage.engine.texts == [lines[0], lines[1].strip()]


async def test_next_sentence_is_spoken_while_one_is_handed_out(stage: Stage) -> None:
    live = stage.live()
    live.feed("The first sentence is here. wait for the second one.")
    live.finish()
    async with asyncio.timeout(PATIENCE_S), aclosing(live.events()) as events:
        assert await anext(events) == SentenceBegan(0, "The first sentence is here.")
        assert await asyncio.to_thread(stage.engine.held.wait, PATIENCE_S)
        stage.engine.gate.set()
        rest = [event async for event in events]
    assert len(audio_of(rest)) == 10 * CHUNK_BYTES


async def test_interruption_drops_what_was_not_heard_yet(stage: Stage) -> None:
    live = stage.live(Output("wav"))
    live.feed("The first sentence waits here for ever. And another sentence.")
    async with asyncio.timeout(PATIENCE_S), aclosing(live.events()) as events:
        before = [await anext(events) for _ in range(3)]
        assert await asyncio.to_thread(stage.engine.held.wait, PATIENCE_S)
        live.feed("Nobody hears this one any more. ")
        live.interrupt()
        live.feed("Something else is said.")
        stage.engine.gate.set()
        live.finish()
        rest = [event async for event in events]
    assert audio_of(before).startswith(b"RIFF")
    assert texts_of(before) == ["The first sentence waits here for ever."]
    at = rest.index(Interrupted())
    assert not audio_of(rest[:at])
    assert texts_of(rest[at:]) == ["Something else is said."]
    samples, rate = decode_audio(audio_of(rest[at:]))
    assert samples.size / rate == pytest.approx(0.4)
    assert stage.engine.cancelled.get(timeout=PATIENCE_S)
    assert "ever." not in stage.engine.spoken


async def test_interruption_of_silence_is_told_too(stage: Stage) -> None:
    live = stage.live()
    live.interrupt()
    async with asyncio.timeout(PATIENCE_S), aclosing(live.events()) as events:
        assert await anext(events) == Interrupted()
        live.interrupt()
        live.feed("Only this is heard.")
        live.finish()
        rest = [event async for event in events]
    assert texts_of(rest) == ["Only this is heard."]
    assert rest.count(Interrupted()) == 1


async def test_interrupted_speech_may_end_without_more(stage: Stage) -> None:
    live = stage.live(Output("wav"))
    live.feed("The first sentence waits here for ever.")
    live.finish()
    async with asyncio.timeout(PATIENCE_S), aclosing(live.events()) as events:
        await anext(events)
        live.interrupt()
        assert [event async for event in events][-1] == Interrupted()


@pytest.mark.parametrize("text", ["", "…!? 🙂", "\n\n", "hush"])
async def test_text_with_nothing_to_speak_is_an_empty_stream(
    stage: Stage, text: str
) -> None:
    live = stage.live(Output("wav"))
    live.feed(text)
    live.finish()
    events = await heard(live)
    assert texts_of(events) == []
    with wave.open(BytesIO(audio_of(events))) as sound:
        assert not sound.readframes(1)
    assert live.duration_s == 0


async def test_sentence_with_nothing_to_speak_is_passed_over(stage: Stage) -> None:
    live = stage.live()
    for text in ("The first sentence is here.", "hush", "🙂!", "The last one is here."):
        live.feed(text)
        live.flush()
    live.finish()
    events = await heard(live)
    assert [e.index for e in events if isinstance(e, SentenceEnded)] == [0, 1]
    assert len(audio_of(events)) == 10 * CHUNK_BYTES


async def test_failure_ends_the_stream_after_what_was_spoken(stage: Stage) -> None:
    live = stage.live()
    live.feed("The first sentence is here. fail And nobody hears this one.")
    live.finish()
    events: list[LiveEvent] = []
    with pytest.raises(ResourceError, match="disk is full"):
        async for event in live.events():
            events.append(event)
    assert len(audio_of(events)) == 5 * CHUNK_BYTES
    assert len([each for each in events if isinstance(each, SentenceEnded)]) == 1


async def test_bug_of_an_engine_is_a_failure(stage: Stage) -> None:
    live = stage.live()
    live.feed("bug")
    live.finish()
    with pytest.raises(CosykitError, match="failed unexpectedly"):
        await heard(live)


async def test_closing_the_events_cancels_the_speech(stage: Stage) -> None:
    live = stage.live()
    live.feed("The first sentence waits here for ever.")
    live.flush()
    async with asyncio.timeout(PATIENCE_S), aclosing(live.events()) as events:
        await anext(events)
        assert await asyncio.to_thread(stage.engine.held.wait, PATIENCE_S)
    stage.engine.gate.set()
    assert stage.engine.cancelled.get(timeout=PATIENCE_S)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_cancelling_the_listener_cancels_the_speech(stage: Stage) -> None:
    live = stage.live()
    live.feed("wait")
    live.flush()
    listening = asyncio.create_task(heard(live))
    assert await asyncio.to_thread(stage.engine.held.wait, PATIENCE_S)
    listening.cancel()
    with suppress(asyncio.CancelledError):
        await listening
    stage.engine.gate.set()
    assert stage.engine.cancelled.get(timeout=PATIENCE_S)


async def test_first_sentence_chooses_the_voice(stage: Stage) -> None:
    live = stage.live()
    live.feed("今天的天气非常好。And this is an English sentence.")
    live.finish()
    await heard(live)
    assert stage.engine.asked == ["mei", "mei"]
    other = stage.live(manner=SpeechRequest("", language="en"))
    other.feed("今天的天气非常好。")
    other.finish()
    await heard(other)
    assert stage.engine.asked[2:] == ["ann"]


async def test_unknown_voice_is_refused_before_any_text(stage: Stage) -> None:
    with pytest.raises(NotFoundError):
        async with stage.live(manner=SpeechRequest("", voice="nobody")).started():
            pass


async def test_facts_are_known_before_any_text(stage: Stage) -> None:
    live = stage.live(Output("opus"))
    async with live.started():
        assert (live.sample_rate, live.media_type) == (24_000, "audio/ogg; codecs=opus")


async def test_no_more_text_is_taken_than_may_wait(stage: Stage) -> None:
    live = stage.live()
    most = 50 * stage.service.settings.server.max_text_chars
    live.feed("x" * (most - 1))
    with pytest.raises(InputError, match="wait to be spoken"):
        live.feed("好好")
    live.interrupt()
    live.feed("好好")


async def test_text_after_the_end_is_refused(stage: Stage) -> None:
    live = stage.live()
    live.finish()
    with pytest.raises(InputError, match="after its end"):
        live.feed("x")


async def test_speech_under_way_waits_where_newcomers_are_refused() -> None:
    limits = {"batch_size": 1, "queue_size": 1, "parallel": 1}
    async with staged(settings_for("two", engine=limits)) as stage:
        live = stage.live()
        live.feed("The first sentence is here. And")
        async with asyncio.timeout(PATIENCE_S), aclosing(live.events()) as events:
            async for event in events:
                if isinstance(event, SentenceEnded):
                    break
            others = [asyncio.create_task(heard(spoken(stage, "wait")))]
            assert await asyncio.to_thread(stage.engine.held.wait, PATIENCE_S)
            others.append(asyncio.create_task(heard(spoken(stage, "queued"))))
            loop = stage.service.engine_loop
            assert loop
            await until_soon(lambda: loop.waiting > 0)
            live.feed(" here is the second one.")
            live.finish()
            refused = stage.live()
            refused.feed("refused")
            refused.finish()
            with pytest.raises(CosykitError, match="waiting already"):
                await heard(refused)
            stage.engine.gate.set()
            rest = [event async for event in events]
        assert len(audio_of(rest)) == 6 * CHUNK_BYTES
        await asyncio.gather(*others)


def spoken(stage: Stage, text: str) -> LiveSpeech:
    live = stage.live()
    live.feed(text)
    live.finish()
    return live
