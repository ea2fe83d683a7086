"""Every mode gives the language model and the flow what upstream gives them."""

from dataclasses import replace

import numpy as np
import pytest

from cosykit.config.schema import Settings
from cosykit.engines.cosyvoice.installed import find_installed
from cosykit.engines.cosyvoice.preparing import Preparing
from cosykit.engines.cosyvoice.voices import open_voices
from cosykit.errors import InputError
from cosykit.seams import VocoderStream
from cosykit.spec import Mode
from cosykit.synthesis.flow.chunks import DEFAULT, LONG
from cosykit.synthesis.text.frontend import StandardFrontend
from cosykit.synthesis.text.pieces import TextPieces
from cosykit.synthesis.text.whisper.tokenizer import WhisperTokenizer
from cosykit.types import Mel, Recording, Samples, SpeechRequest

TEXT = "你好。"
TRANSCRIPT = "今天天气很好。"
WHISPER = WhisperTokenizer()


class NoVocoder:
    """Is asked for no samples here."""

    sample_rate = 22_050

    def begin(self, seed: object) -> VocoderStream:
        return self

    def process(self, mel: Mel, *, last: bool) -> Samples:
        raise AssertionError

    def close(self) -> None:
        pass


def preparing(
    settings: Settings,
    *modes: Mode,
    forced: int | None = None,
    positions: int | None = None,
) -> Preparing:
    """Prepare for a model that has only some of the modes, or of the positions."""
    installed = find_installed(settings.model, settings)
    facts = replace(
        installed.facts,
        modes=modes or installed.facts.modes,
        positions=positions or installed.facts.positions,
    )
    pieces = TextPieces(StandardFrontend())
    return Preparing(
        settings.model,
        facts,
        open_voices(replace(installed, facts=facts), settings, pieces),
        pieces,
        NoVocoder(),
        schedule=DEFAULT,
        forced_tokens=forced,
    )


def recording(transcript: str = "") -> Recording:
    """Two seconds of something that sounds."""
    seconds = np.arange(2 * 22_050) / 22_050
    tone = 0.4 * np.sin(2 * np.pi * 220 * seconds) * (1 + np.sin(8 * seconds)) / 2
    return Recording(tone.astype(np.float32), 22_050, transcript)


@pytest.fixture
def prepared(settings: Settings) -> Preparing:
    return preparing(settings)


def test_built_in_voice_is_a_speaker_alone(prepared: Preparing) -> None:
    speech = prepared.speech(SpeechRequest(TEXT, voice="中文女"))
    assert speech.prompt.speaker is not None
    assert speech.prompt.text.size == speech.prompt.speech.size == 0
    flow = speech.manner.prompt
    assert np.array_equal(flow.speaker[0], speech.prompt.speaker)
    assert flow.tokens.size == flow.frames == 0
    assert np.array_equal(speech.lines[0].piece.tokens, WHISPER.encode(TEXT))


def test_recording_with_its_transcript_is_continued(prepared: Preparing) -> None:
    speech = prepared.speech(SpeechRequest(TEXT, prompt=recording(TRANSCRIPT)))
    assert np.array_equal(speech.prompt.text, WHISPER.encode(TRANSCRIPT))
    assert np.array_equal(speech.lines[0].piece.tokens, WHISPER.encode(TEXT))
    flow = speech.manner.prompt
    assert np.array_equal(speech.prompt.speech, flow.tokens)
    assert flow.tokens.size > 50
    assert flow.frames == pytest.approx(flow.tokens.size * 22_050 / 50 / 256, rel=0.05)
    voice = prepared.voices.measured(recording(TRANSCRIPT)).voice
    for given, measured in (
        (flow.mel[0], voice.mel),
        (flow.tokens, voice.tokens),
        (flow.speaker[0], voice.speaker),
        (speech.prompt.speaker, voice.speaker),
    ):
        np.testing.assert_array_equal(given, measured)


def test_recording_alone_is_followed_by_the_flow_only(prepared: Preparing) -> None:
    speech = prepared.speech(SpeechRequest("Good morning.", prompt=recording()))
    assert speech.prompt.speaker is not None
    assert speech.prompt.text.size == speech.prompt.speech.size == 0
    assert speech.manner.prompt.tokens.size > 50
    # The recording does not say which language is to be spoken.
    tag = WHISPER.encode("<|en|>")[0]
    assert speech.lines[0].piece.tokens[0] == tag


@pytest.mark.parametrize("end", ["", "<|endofprompt|>"])
def test_instructions_take_the_place_of_the_speaker(
    prepared: Preparing, end: str
) -> None:
    request = SpeechRequest(TEXT, voice="zh_male", instructions=f"Be merry.{end}")
    speech = prepared.speech(request)
    assert speech.prompt.speaker is None
    expected = WHISPER.encode("Be merry.<|endofprompt|>")
    assert np.array_equal(speech.prompt.text, expected)
    assert speech.manner.prompt.speaker.any()


def test_streams_have_chunks_and_whole_speech_has_none(prepared: Preparing) -> None:
    for whole, hop in ((True, None), (False, DEFAULT.hops[0])):
        speech = prepared.speech(SpeechRequest(TEXT, whole=whole))
        assert speech.manner.hops.current == hop


def test_speech_may_be_as_long_as_upstream_allows(prepared: Preparing) -> None:
    line = prepared.speech(SpeechRequest(TEXT)).lines[0]
    size = line.piece.tokens.size
    assert (line.limits.fewest, line.limits.most) == (2 * size, 20 * size)


def test_speech_may_be_no_longer_than_a_slot(settings: Settings) -> None:
    size = preparing(settings).speech(SpeechRequest(TEXT)).lines[0].piece.tokens.size
    # Two marks and the speaker stand before the text.
    tight = preparing(settings, positions=3 + size + 15 * size)
    limits = tight.speech(SpeechRequest(TEXT)).lines[0].limits
    assert (limits.fewest, limits.most) == (2 * size, 15 * size)


def test_recorded_speech_of_any_length_has_chunks(prepared: Preparing) -> None:
    speech = prepared.speech(SpeechRequest("", source=recording(), whole=True))
    assert speech.manner.hops.current == LONG.hops[0]
    (utterance,) = speech.utterances
    assert utterance.ended
    assert len(utterance.tokens) > 50


def test_every_place_of_a_request_has_numbers_of_its_own(prepared: Preparing) -> None:
    speech = prepared.speech(SpeechRequest(TEXT, seed=1))
    line, mu = speech.lines[0], np.zeros((1, 80, 4), np.float32)
    first, again, next_one, anew = (
        speech.manner.utterance(line.piece, place, line.limits, NoVocoder())
        for place in (0, 0, 1, 0)
    )
    anew.begin_anew()
    draws = [each.choice().draws for each in (first, again, next_one, anew)]
    assert draws[0] == draws[1]
    assert len({number for pair in draws for number in pair}) == 6
    noises = [each.flow.begin(mu).noise for each in (first, again, next_one)]
    np.testing.assert_array_equal(noises[0], noises[1])
    assert not np.isclose(noises[0], noises[2]).any()


def test_prompt_that_leaves_no_room_is_refused(settings: Settings) -> None:
    prepared = preparing(settings)
    long = SpeechRequest(TEXT, instructions="Speak very slowly. " * 1000)
    with pytest.raises(InputError, match="too little room"):
        prepared.speech(long)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (SpeechRequest(TEXT, instructions="Be merry."), "does not follow instructions"),
        (SpeechRequest(TEXT, prompt=recording()), "does not clone voices"),
        (SpeechRequest("", source=recording()), "does not convert voices"),
    ],
)
def test_mode_that_the_model_lacks_is_refused_with_one_that_has_it(
    settings: Settings, request_: SpeechRequest, message: str
) -> None:
    prepared = preparing(settings, "built_in_voice")
    with pytest.raises(InputError, match=message) as caught:
        prepared.speech(request_)
    assert "cosyvoice-300m" in caught.value.hint


def test_same_recording_is_measured_once(settings: Settings) -> None:
    prepared = preparing(settings)
    first, again = (
        prepared.speech(SpeechRequest(TEXT, prompt=recording())) for _ in range(2)
    )
    assert first.manner.prompt.tokens is again.manner.prompt.tokens


def test_forced_tokens_bound_both_ends(settings: Settings) -> None:
    line = preparing(settings, forced=200).speech(SpeechRequest(TEXT)).lines[0]
    assert (line.limits.fewest, line.limits.most) == (200, 200)


def test_forced_tokens_must_fit(settings: Settings) -> None:
    with pytest.raises(InputError, match="100000 speech tokens do not fit") as raised:
        preparing(settings, forced=100_000).speech(SpeechRequest(TEXT))
    assert "or fewer" in (raised.value.hint or "")
