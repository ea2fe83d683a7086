"""Check a recording that a voice is to be cloned from, and make the best of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosykit.audio.features.spectra import frames
from cosykit.errors import InputError, TooLargeError
from cosykit.types import Recording, Samples

LONGEST_S = 30.0
"""Speech tokenizers take no more at once."""
_SHORTEST_S = 1.0
_SHORTEST_SOURCE_S = 0.1
_GOOD_S = 3.0
_LOWEST_GOOD_RATE = 16_000
_FRAME_S = 0.02
_SILENT = 10 ** (-60 / 20)
_FAINT = 10 ** (-45 / 20)
# Upstream's page cuts off what is 60 dB below the loudest part. Rooms are rarely so
# quiet: at 50 dB the pauses around the speech go too, and the margin keeps soft ends.
_QUIETER_THAN_SPEECH = 10 ** (-50 / 20)
_MARGIN_S = 0.1
# Upstream's page turns loud recordings down to this and ends them with this much
# silence, without which speech begins as if in the middle of a word.
_LOUDEST_PEAK = 0.8
_TAIL_S = 0.2
# The level of the recording becomes that of all speech with the voice.
_SOFTEST_PEAK = 0.25
# Shares of samples that sit flat at the peak. Speech has under one in a million.
_SOME_CLIPPED = 0.001
_HOPELESSLY_CLIPPED = 0.1
_HINT = "Record 3 to 10 s of clear speech by one person, without music"


@dataclass(frozen=True, slots=True, eq=False)
class PreparedRecording:
    """A recording that is fit to clone a voice from.

    Attributes:
        recording: Without the silence around the speech, at a good level.
        remarks: What could be better about it, in sentences without a full stop.
    """

    recording: Recording
    remarks: Sequence[str]


def prepare(recording: Recording) -> PreparedRecording:
    """Check a recording, cut the silence off, and set its level.

    Raises:
        InputError: It is silent, too short, clipped, or not audio at all.
        TooLargeError: It is too long.
    """
    samples, rate = recording.samples, recording.sample_rate
    if not samples.size or not np.isfinite(samples).all():
        raise _refused("the recording has no samples, or some that are not numbers")
    speech = _trimmed(samples, rate)
    duration_s = speech.size / rate
    if duration_s < _SHORTEST_S:
        raise _refused(
            f"the recording has only {duration_s:.1f} s of sound, "
            f"a voice takes at least {_SHORTEST_S:g} s"
        )
    if duration_s > LONGEST_S:
        raise TooLargeError(
            f"the recording is {duration_s:.1f} s long, a voice takes at most "
            f"{LONGEST_S:g} s",
            hint="Cut out 3 to 10 s of clear speech",
            param="prompt",
        )
    clipped = _clipped_share(speech)
    if clipped > _HOPELESSLY_CLIPPED:
        raise _refused("the recording is clipped, it was made far too loud")
    leveled = _with_tail(_leveled(speech), rate)
    remarks = tuple(_remarks(speech, rate, clipped))
    return PreparedRecording(Recording(leveled, rate, recording.transcript), remarks)


def check_source(recording: Recording) -> None:
    """Make sure that there is speech in a recording that is to be said again.

    Raises:
        InputError: It is shorter than a tenth of a second, or silent.
    """
    samples, rate = recording.samples, recording.sample_rate
    if samples.size < _SHORTEST_SOURCE_S * rate or not np.isfinite(samples).all():
        raise InputError(
            "the recording is too short to be speech",
            hint="Use a recording of at least a word",
            param="source",
        )
    if _loudness(samples, max(1, round(_FRAME_S * rate))).max() < _SILENT:
        raise InputError(
            "the recording is silent",
            hint="Check the microphone and its level",
            param="source",
        )


def _trimmed(samples: Samples, rate: int) -> Samples:
    """Cut off what is far quieter than the rest, at both ends."""
    hop = max(1, round(_FRAME_S * rate))
    loudness = _loudness(samples, hop)
    loudest = loudness.max(initial=0)
    if loudest < _SILENT:
        raise _refused("the recording is silent")
    (heard,) = np.nonzero(loudness > loudest * _QUIETER_THAN_SPEECH)
    margin = round(_MARGIN_S * rate)
    start = max(0, int(heard[0]) * hop - margin)
    return samples[start : (int(heard[-1]) + 1) * hop + margin]


def _loudness(samples: Samples, hop: int) -> NDArray[np.float32]:
    """Give the root mean square of each stretch of some samples."""
    padded = np.pad(samples, (0, -samples.size % hop))
    loudness: NDArray[np.float32] = np.sqrt(np.square(frames(padded, hop, hop)).mean(1))
    return loudness


def _clipped_share(samples: Samples) -> float:
    peak = float(np.abs(samples).max())
    near_peak = np.abs(samples[1:]) > 0.98 * peak
    flat = np.abs(np.diff(samples)) < 1e-4 * peak
    return float(np.mean(near_peak & flat))


def _leveled(samples: Samples) -> Samples:
    peak = float(np.abs(samples).max())
    wanted = min(max(peak, _SOFTEST_PEAK), _LOUDEST_PEAK)
    return samples if wanted == peak else samples * np.float32(wanted / peak)


def _with_tail(samples: Samples, rate: int) -> Samples:
    longest = int(LONGEST_S * rate)
    tail = min(round(_TAIL_S * rate), max(0, longest - samples.size))
    return np.concatenate([samples, np.zeros(tail, np.float32)])


def _remarks(speech: Samples, rate: int, clipped: float) -> Iterator[str]:
    if speech.size < _GOOD_S * rate:
        yield f"The recording is short, {_GOOD_S:g} to 10 s clone better"
    if rate < _LOWEST_GOOD_RATE:
        yield f"The recording has only {rate} samples a second and will sound dull"
    if clipped > _SOME_CLIPPED:
        yield "The recording is clipped in places, and so may be the voice"
    if _loudness(speech, max(1, round(_FRAME_S * rate))).max() < _FAINT:
        yield "The recording is faint, its noise will be heard"


def _refused(message: str) -> InputError:
    return InputError(message, hint=_HINT, param="prompt")
