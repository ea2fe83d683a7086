"""A recording of any kind becomes what a model knows of a voice."""

from pathlib import Path

import numpy as np
import pytest

from cosykit.audio.decode import decode_audio
from cosykit.audio.features.fbank import fbank
from cosykit.audio.features.mel import COSYVOICE_300M, mel
from cosykit.audio.features.whisper import log_mel
from cosykit.audio.file import write_audio
from cosykit.audio.resample import resample
from cosykit.errors import InputError
from cosykit.synthesis.voice.enrol import VoiceNetworks, enrol, tokens_of
from cosykit.synthesis.voice.prompt import VoicePrompt
from cosykit.synthesis.voice.recording import prepare
from cosykit.types import AudioChunk, Recording
from tests.synthesis.voice.networks import SPEAKER_SIZE, open_networks
from tests.synthesis.voice.signals import speech

DURATION_S = 3.0


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> VoiceNetworks:
    return open_networks(tmp_path_factory.mktemp("networks"))


def enrolled(recording: Recording, networks: VoiceNetworks) -> VoicePrompt:
    return enrol(prepare(recording), networks)


def test_voice_is_measured_as_the_model_wants_it(networks: VoiceNetworks) -> None:
    prompt = enrolled(Recording(speech(DURATION_S), 16_000, "你好。"), networks)
    total_s = DURATION_S + 0.2
    assert prompt.speaker.shape == (SPEAKER_SIZE,)
    assert prompt.speaker.dtype == np.float32
    assert prompt.tokens.dtype == np.int64
    assert prompt.tokens.size == total_s * 50
    assert prompt.mel.shape == (80, int(total_s * 22_050) // 256)
    assert prompt.transcript == "你好。"


def test_networks_hear_what_upstream_gives_them(networks: VoiceNetworks) -> None:
    prepared = prepare(Recording(speech(DURATION_S, rate=44_100), 44_100))
    heard = resample(prepared.recording.samples, 44_100, 16_000)
    prompt = enrol(prepared, networks)
    banks = fbank(heard)
    about_zero = banks - banks.mean(axis=0)
    (vector,) = networks._speaker.run({"heard": about_zero[None]})
    np.testing.assert_allclose(prompt.speaker, vector[0], rtol=1e-5)
    bands = log_mel(heard)
    first, second = networks._speech_tokenizer.inputs
    length = np.array([bands.shape[1]], np.int32)
    (tokens,) = networks._speech_tokenizer.run({first: bands[None], second: length})
    np.testing.assert_array_equal(prompt.tokens, tokens.reshape(-1))


def test_mel_is_measured_at_the_rate_of_its_scale(networks: VoiceNetworks) -> None:
    prompt = enrolled(Recording(speech(DURATION_S, rate=22_050), 22_050), networks)
    expected = mel(speech(DURATION_S, rate=22_050), COSYVOICE_300M)
    frames = expected.shape[1] - 4
    np.testing.assert_allclose(prompt.mel[:, :frames], expected[:, :frames], atol=1e-4)


@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 44_100, 48_000])
def test_any_rate_gives_much_the_same_voice(rate: int, networks: VoiceNetworks) -> None:
    expected = enrolled(Recording(speech(DURATION_S, rate=22_050), 22_050), networks)
    prompt = enrolled(Recording(speech(DURATION_S, rate=rate), rate), networks)
    assert abs(prompt.mel.shape[1] - expected.mel.shape[1]) <= 1
    # Low bands only: a low rate has no high ones.
    np.testing.assert_allclose(
        prompt.mel[:20, 5:200], expected.mel[:20, 5:200], atol=0.2
    )


def test_file_of_another_container_can_be_enrolled(
    tmp_path: Path, networks: VoiceNetworks
) -> None:
    path = tmp_path / "voice.mp3"
    chunk = AudioChunk(speech(DURATION_S, rate=24_000), 24_000)
    write_audio(path, "mp3", [chunk])
    samples, rate = decode_audio(path)
    prompt = enrolled(Recording(samples, rate), networks)
    assert prompt.tokens.size == pytest.approx((DURATION_S + 0.2) * 50, abs=5)


def test_longest_recording_fits_the_speech_tokenizer(networks: VoiceNetworks) -> None:
    prompt = enrolled(Recording(speech(30, rate=44_100), 44_100), networks)
    assert prompt.tokens.size == 1500


@pytest.mark.parametrize("duration_s", [0.2, 29.9, 30.01, 75.0])
def test_speech_of_any_length_has_fifty_tokens_a_second(
    duration_s: float, networks: VoiceNetworks
) -> None:
    tokens = tokens_of(Recording(speech(duration_s), 16_000), networks)
    assert tokens.size == pytest.approx(duration_s * 50, abs=4)


def test_long_speech_is_cut_where_it_is_quiet(networks: VoiceNetworks) -> None:
    loud = speech(40)
    loud[27 * 16_000 : 28 * 16_000] = 0
    heard = tokens_of(Recording(loud, 16_000), networks)
    first = networks.tokens(loud[: round(27.025 * 16_000)])
    np.testing.assert_array_equal(heard[: first.size], first)


def test_too_little_speech_is_refused(networks: VoiceNetworks) -> None:
    with pytest.raises(InputError, match="too short"):
        tokens_of(Recording(speech(0.05), 16_000), networks)


def test_resampling_a_whole_recording_keeps_its_length() -> None:
    assert (
        resample(speech(DURATION_S, rate=48_000), 48_000, 16_000).size
        == DURATION_S * 16_000
    )
    samples = speech(DURATION_S, rate=16_000)
    assert resample(samples, 16_000, 16_000) is samples
