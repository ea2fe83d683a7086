"""Hold a vocoder, which may be a stranger's, to the samples that it owes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cosykit.errors import PluginError
from cosykit.seams import BatchVocoder, Vocoder, VocoderPiece, VocoderStream
from cosykit.spec import ModelFacts
from cosykit.types import Mel, Samples

# Frames that networks without padding may lose at the ends of an utterance: 46 ms.
_FRAMES_OFF = 4


@dataclass(frozen=True, slots=True)
class CheckedVocoder:
    """Speaks as another vocoder does, or fails.

    Attributes:
        facts: Of the model whose mels it speaks.
    """

    vocoder: Vocoder
    facts: ModelFacts

    @property
    def sample_rate(self) -> int:
        """Samples a second."""
        return self.vocoder.sample_rate

    def begin(self, seed: Sequence[int]) -> VocoderStream:
        """Begin an utterance."""
        frame_s = self.facts.samples_per_frame / self.facts.sample_rate
        return _CheckedStream(self.vocoder.begin(seed), frame_s * self.sample_rate)

    def process_all(self, pieces: Sequence[VocoderPiece]) -> Sequence[Samples]:
        """Take the next frames of utterances that it began.

        Raises:
            PluginError: What it gives for one of them are no samples, or too few.
        """
        if len(pieces) == 1 or not isinstance(self.vocoder, BatchVocoder):
            return [p.stream.process(p.mel, last=p.last) for p in pieces]
        streams = [_own(piece.stream) for piece in pieces]
        inner = [
            replace(piece, stream=stream.stream)
            for stream, piece in zip(streams, pieces, strict=True)
        ]
        given = self.vocoder.process_all(inner)
        return [
            stream.checked(samples, piece.mel, last=piece.last)
            for stream, samples, piece in zip(streams, given, pieces, strict=True)
        ]

    def close(self) -> None:
        """Close the other one."""
        self.vocoder.close()


@dataclass(slots=True)
class _CheckedStream:
    """One utterance.

    Attributes:
        frame_samples: Samples that a frame becomes.
        frames: Those that went in.
        samples: Those that came out.
    """

    stream: VocoderStream
    frame_samples: float
    frames: int = field(init=False, default=0)
    samples: int = field(init=False, default=0)

    def process(self, mel: Mel, *, last: bool) -> Samples:
        """Take the next frames and give the samples that are ready.

        Raises:
            PluginError: They are no samples, or too few by the end of the utterance.
        """
        return self.checked(self.stream.process(mel, last=last), mel, last=last)

    def checked(self, given: object, mel: Mel, *, last: bool) -> Samples:
        """Check what was given for frames.

        Raises:
            PluginError: They are no samples, or too few by the end of the utterance.
        """
        samples = _as_samples(given)
        self.frames += mel.shape[-1]
        self.samples += samples.size
        if last:
            self._check_length()
        return samples

    def _check_length(self) -> None:
        least = (self.frames - _FRAMES_OFF) * self.frame_samples
        if self.samples < least or (self.frames and not self.samples):
            owed = round(self.frames * self.frame_samples)
            raise _misfit(f"{self.samples} samples in the place of {owed}")


def _own(stream: VocoderStream) -> _CheckedStream:
    assert isinstance(stream, _CheckedStream)
    return stream


def _as_samples(given: object) -> Samples:
    if not isinstance(given, np.ndarray) or given.dtype.kind != "f":
        # Integers would be played as loud as can be.
        kind = getattr(given, "dtype", type(given).__name__)
        raise _misfit(f"a {kind} in the place of samples")
    if given.ndim != 1:
        raise _misfit(f"an array of shape {given.shape} in the place of samples")
    return given.astype(np.float32, copy=False)


def _misfit(given: str) -> PluginError:
    return PluginError(
        f"the vocoder gave {given}",
        hint="Set engine.vocoder to hift, or have the plug-in give float32 (samples)",
    )
