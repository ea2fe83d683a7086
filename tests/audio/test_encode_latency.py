"""The table of `cosykit.audio.encode`, measured in bytes and samples, not in time."""

import re

import pytest

from cosykit.audio import encode
from cosykit.audio.encode import Encoder
from cosykit.audio.formats import AUDIO_FORMATS, AudioFormat
from tests.audio.signals import RATE, cut, decoded, noise

MILLISECOND = RATE // 1000


def claim(audio_format: AudioFormat) -> tuple[int, int]:
    """The step and the delay that the table states, in samples."""
    row = rf"^\| {audio_format} +\| (?:(\d+) ms|none) +\| (\d+) ms"
    found = re.search(row, encode.__doc__ or "", re.MULTILINE)
    assert found
    return int(found[1] or 0) * MILLISECOND, int(found[2]) * MILLISECOND


def playable(audio_format: AudioFormat, content: bytes) -> int:
    """How many samples at 24 kHz a decoder makes of the bytes so far."""
    if audio_format in ("pcm", "wav"):
        return max(0, len(content) - 44 * (audio_format == "wav")) // 2
    heard, rate = decoded(content)
    return heard.size * RATE // rate if rate else 0


@pytest.mark.parametrize("audio_format", AUDIO_FORMATS)
def test_bytes_come_as_soon_as_the_table_says(audio_format: AudioFormat) -> None:
    step, behind = claim(audio_format)
    fed = fed_at_last_bytes = ready = 0
    with Encoder(audio_format, input_rate=RATE) as encoder:
        content = encoder.encode(noise(0))
        for piece in cut(noise(RATE), [MILLISECOND] * 999):
            new = encoder.encode(piece)
            fed += piece.size
            if new:
                started = ready > 0
                content += new
                ready = playable(audio_format, content)
                if started:
                    assert fed - fed_at_last_bytes <= step + MILLISECOND
                fed_at_last_bytes = fed
            assert fed - ready <= behind + MILLISECOND


@pytest.mark.parametrize("audio_format", AUDIO_FORMATS)
def test_the_end_gives_little_more_than_what_was_behind(
    audio_format: AudioFormat,
) -> None:
    with Encoder(audio_format, input_rate=RATE) as encoder:
        streamed = len(encoder.encode(noise(10 * RATE)))
        rest = len(encoder.finish())
    assert rest < 0.02 * streamed
