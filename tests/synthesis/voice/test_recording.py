"""A recording is checked, trimmed and leveled before a voice is cloned from it."""

import numpy as np
import pytest

from cosykit.errors import InputError, TooLargeError
from cosykit.synthesis.voice.recording import prepare
from cosykit.types import Recording, Samples
from tests.synthesis.voice.signals import silence, speech

RATE = 16_000


def test_good_recording_only_gains_a_silent_end() -> None:
    prepared = prepare(Recording(speech(4), RATE, "你好"))
    samples = prepared.recording.samples
    np.testing.assert_array_equal(samples[: 4 * RATE], speech(4))
    np.testing.assert_array_equal(samples[4 * RATE :], silence(0.2))
    assert prepared.recording.transcript == "你好"
    assert prepared.remarks == ()


@pytest.mark.parametrize("floor", [0.0, 0.0003])
def test_silence_around_the_speech_is_cut_off(floor: float) -> None:
    quiet = silence(2) + np.float32(floor)
    recording = Recording(np.concatenate([quiet, speech(3), quiet]), RATE)
    samples = prepare(recording).recording.samples
    assert samples.size / RATE == pytest.approx(0.1 + 3 + 0.1 + 0.2, abs=0.03)


def test_pauses_within_the_speech_stay() -> None:
    samples = np.concatenate([speech(2), silence(1), speech(2)])
    assert prepare(Recording(samples, RATE)).recording.samples.size >= samples.size


@pytest.mark.parametrize(("peak", "expected"), [(1.0, 0.8), (0.5, 0.5), (0.05, 0.25)])
def test_level_is_brought_into_range(peak: float, expected: float) -> None:
    samples = prepare(Recording(speech(4, peak), RATE)).recording.samples
    assert np.abs(samples).max() == pytest.approx(expected)
    assert samples.dtype == np.float32


@pytest.mark.parametrize(
    ("samples", "reason"),
    [
        (silence(5), "silent"),
        (silence(5) + np.float32(0.0002), "silent"),
        (silence(0), "no samples"),
        (np.full(RATE * 3, np.nan, np.float32), "not numbers"),
        (speech(0.5), "only 0.5 s"),
        (np.concatenate([silence(3), speech(0.3), silence(3)]), "s of sound"),
        (np.clip(20 * speech(4), -1, 1), "clipped"),
    ],
)
def test_hopeless_recording_is_refused(samples: Samples, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as refusal:
        prepare(Recording(samples, RATE))
    assert "clear speech" in refusal.value.hint
    assert refusal.value.param == "prompt"


def test_thirty_seconds_are_the_most() -> None:
    assert prepare(Recording(speech(30), RATE)).recording.samples.size == 30 * RATE
    with pytest.raises(TooLargeError, match=r"30\.5 s long"):
        prepare(Recording(speech(30.5), RATE))


def test_silence_does_not_count_as_length() -> None:
    samples = np.concatenate([silence(20), speech(29), silence(20)])
    prepare(Recording(samples, RATE))


@pytest.mark.parametrize(
    ("samples", "rate", "remark"),
    [
        (speech(1.5), RATE, "short"),
        (speech(4, rate=8_000), 8_000, "8000 samples a second"),
        (np.clip(2.5 * speech(4), -1, 1), RATE, "clipped in places"),
        (speech(4, 0.006), RATE, "faint"),
    ],
)
def test_doubtful_recording_is_remarked_on(
    samples: Samples, rate: int, remark: str
) -> None:
    (found,) = prepare(Recording(samples, rate)).remarks
    assert remark in found


def test_low_tone_at_full_level_is_not_taken_for_clipping() -> None:
    tone = np.sin(2 * np.pi * 100 * np.arange(4 * RATE) / RATE).astype(np.float32)
    assert prepare(Recording(tone, RATE)).remarks == ()
