"""The official vocoder: pitch, source and decoder.

Source: cosyvoice/hifigan/generator.py HiFTGenerator.inference
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosykit.runtime.session import Session

Array = NDArray[np.float32]

# The fundamental and its eight overtones.
_WAVES = 9


@dataclass(frozen=True, slots=True)
class Chances:
    """The random numbers of a call.

    Attributes:
        phases: Uniform from -pi to pi, (1, waves).
        noise: Normal, (1, waves, samples).
    """

    phases: Array
    noise: Array


def draw(generator: np.random.Generator, samples: int) -> Chances:
    """Draw the random numbers for a call that makes so many samples."""
    unit = generator.random((1, _WAVES), np.float32)
    noise = generator.standard_normal((1, _WAVES, samples), np.float32)
    return Chances((2 * unit - 1) * np.float32(np.pi), noise)


class HiftVocoder:
    """The three graphs of the vocoder."""

    def __init__(self, pitch: Session, source: Session, decoder: Session) -> None:
        self._pitch, self._source, self._decoder = pitch, source, decoder

    def pitch(self, mel: Array) -> Array:
        """Give Hz, (1, frames), of a mel (1, mels, frames)."""
        return _only(self._pitch.run({"mel": mel}, ["f0"]))

    def source(self, f0: Array, chances: Chances) -> Array:
        """Give the source, (1, 1, samples), of Hz (1, frames)."""
        feeds = {"f0": f0, "phases": chances.phases, "noise": chances.noise}
        return _only(self._source.run(feeds, ["source"]))

    def decode(self, mel: Array, source: Array) -> Array:
        """Give samples, (1, samples), of a mel and its source."""
        return _only(self._decoder.run({"mel": mel, "source": source}, ["samples"]))

    def speak(
        self, mel: Array, chances: Chances, begun: Array | None = None
    ) -> tuple[Array, Array]:
        """Make the samples of a mel.

        Args:
            begun: The source that the chunk before ended with, (1, 1, samples); it
                replaces the first samples of this one, so that no phase jumps.

        Returns:
            Samples (1, samples) and their source (1, 1, samples).
        """
        source = self.source(self.pitch(mel), chances)
        if begun is not None:
            rest = source[..., begun.shape[-1] :]
            source = np.concatenate([begun, rest], axis=-1)
        return self.decode(mel, source), source


def _only(outputs: list[NDArray[np.generic]]) -> Array:
    return outputs[0].astype(np.float32, copy=False)
