"""Measure a voice: its speaker vector, speech tokens and mel.

Source: cosyvoice/cli/frontend.py CosyVoiceFrontEnd.frontend_zero_shot
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cosykit.audio.features.fbank import fbank
from cosykit.audio.features.mel import COSYVOICE_300M, MelScale, mel
from cosykit.audio.features.whisper import SAMPLE_RATE, log_mel
from cosykit.audio.resample import resample
from cosykit.runtime.session import Session
from cosykit.synthesis.voice.prompt import VoicePrompt
from cosykit.synthesis.voice.recording import (
    LONGEST_S,
    PreparedRecording,
    check_source,
)
from cosykit.types import Recording, Samples

# A long recording is cut where it is quietest in the last part of what fits.
_CUT_WITHIN_S = 5.0
_QUIET_S = 0.05


class VoiceNetworks:
    """The two networks that measure voices; they hear 16,000 samples a second.

    Args:
        speaker: campplus.onnx
        speech_tokenizer: speech_tokenizer.onnx
    """

    def __init__(self, speaker: Session, speech_tokenizer: Session) -> None:
        self._speaker, self._speech_tokenizer = speaker, speech_tokenizer

    def speaker(self, samples: Samples) -> NDArray[np.float32]:
        """Measure who speaks, (speaker size)."""
        features = fbank(samples)
        features -= features.mean(axis=0)
        (name,) = self._speaker.inputs
        vector = self._speaker.run({name: features[None]})[0]
        return vector.reshape(-1).astype(np.float32, copy=False)

    def tokens(self, samples: Samples) -> NDArray[np.int64]:
        """Turn up to 30 s of speech into speech tokens, (tokens)."""
        features = log_mel(samples)
        name, length = self._speech_tokenizer.inputs
        frames = np.array([features.shape[1]], np.int32)
        feeds = {name: features[None], length: frames}
        tokens = self._speech_tokenizer.run(feeds)[0]
        return tokens.reshape(-1).astype(np.int64)


def enrol(
    prepared: PreparedRecording,
    networks: VoiceNetworks,
    scale: MelScale = COSYVOICE_300M,
) -> VoicePrompt:
    """Measure the voice of a recording.

    Args:
        scale: Of the model's mel.
    """
    recording = prepared.recording
    # Upstream measures the mel of audio at 24 kHz on a scale for 22,050 since
    # December 2025, and so a lower voice than that of the recording.
    heard = resample(recording.samples, recording.sample_rate, SAMPLE_RATE)
    fine = resample(recording.samples, recording.sample_rate, scale.sample_rate)
    return VoicePrompt(
        speaker=networks.speaker(heard),
        tokens=networks.tokens(heard),
        mel=mel(fine, scale),
        transcript=recording.transcript,
    )


def tokens_of(recording: Recording, networks: VoiceNetworks) -> NDArray[np.int64]:
    """Turn speech of any length into speech tokens, (tokens).

    Raises:
        InputError: It is shorter than a tenth of a second, or silent.
    """
    check_source(recording)
    heard = resample(recording.samples, recording.sample_rate, SAMPLE_RATE)
    return np.concatenate([networks.tokens(piece) for piece in _pieces(heard)])


def _pieces(samples: Samples) -> Iterator[Samples]:
    longest = int(LONGEST_S * SAMPLE_RATE)
    while samples.size > longest:
        cut = _quietest(samples, longest)
        yield samples[:cut]
        samples = samples[cut:]
    yield samples


def _quietest(samples: Samples, end: int) -> int:
    """Find the quietest place in the last seconds before another."""
    stretch = round(_QUIET_S * SAMPLE_RATE)
    start = end - round(_CUT_WITHIN_S * SAMPLE_RATE)
    energy = np.square(samples[start:end]).reshape(-1, stretch).sum(axis=1)
    return start + int(energy.argmin()) * stretch + stretch // 2
