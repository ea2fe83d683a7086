"""The three graphs of the official vocoder, on one sequence.

Source: cosyvoice/hifigan/generator.py HiFTGenerator.inference
"""

import numpy as np
from numpy.typing import NDArray

from cosykit.runtime.session import Session
from cosykit.types import Mel, Samples

Array = NDArray[np.float32]

SAMPLE_RATE = 22_050
FRAME_SAMPLES = 256
# How far to each side the result at a frame depends on its neighbours: five
# convolutions of three frames, and all layers of the decoder together (13.5 frames,
# both by way of the mel and of the source).
PITCH_REACH = 5
DECODER_REACH = 14


class HiftGraphs:
    """Pitch, source and decoder."""

    def __init__(self, pitch: Session, source: Session, decoder: Session) -> None:
        self._pitch, self._source, self._decoder = pitch, source, decoder

    def pitch(self, mel: Mel) -> Array:
        """Give Hz, (frames)."""
        return _only(self._pitch.run({"mel": mel[None]}, ["f0"]))

    def source(self, f0: Array, phases: Array, noise: Array) -> Samples:
        """Give the source, FRAME_SAMPLES for each frame of Hz.

        Args:
            f0: (frames).
            phases: From -pi to pi, (waves).
            noise: Normal, (waves, samples).
        """
        feeds = {"f0": f0[None], "phases": phases[None], "noise": noise[None]}
        source: Samples = _only(self._source.run(feeds, ["source"]))[0]
        return source

    def decode(self, mel: Mel, source: Samples) -> Samples:
        """Give FRAME_SAMPLES samples for each frame of a mel and its source."""
        feeds = {"mel": mel[None], "source": source[None, None]}
        return _only(self._decoder.run(feeds, ["samples"]))


def _only(outputs: list[NDArray[np.generic]]) -> Array:
    only: Array = outputs[0][0].astype(np.float32, copy=False)
    return only
