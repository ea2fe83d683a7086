"""The three graphs of the official vocoder, on one sequence.

Source: cosyvoice/hifigan/generator.py HiFTGenerator.inference
"""

from concurrent.futures import ThreadPoolExecutor

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
# A shorter mel is decoded as a whole.
_LEAST_FRAMES = 8


class HiftGraphs:
    """Pitch, source and decoder.

    Args:
        in_halves: Whether both halves of a mel are decoded at once, each with the
            threads of the decoder. With a thread each 344 frames take 0.74 s, as a
            whole that two threads work on 0.86 s: some nodes take one thread only.
    """

    def __init__(
        self,
        pitch: Session,
        source: Session,
        decoder: Session,
        *,
        in_halves: bool = False,
    ) -> None:
        self._pitch, self._source, self._decoder = pitch, source, decoder
        self._beside = ThreadPoolExecutor(1) if in_halves else None

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

    def decode(
        self, mel: Mel, source: Samples, before: int = 0, after: int = 0
    ) -> Samples:
        """Give FRAME_SAMPLES samples for each frame of a mel and its source.

        Args:
            before: Frames at the start that are there only for others to see.
            after: Such frames at the end.
        """
        frames = mel.shape[-1]
        if self._beside is None or frames - before - after < _LEAST_FRAMES:
            return self._decode(mel, source, before, after)
        middle = (before + frames - after) // 2
        right = max(middle - DECODER_REACH, 0)
        left = min(middle + DECODER_REACH, frames)
        first = self._beside.submit(
            self._decode,
            mel[:, :left],
            source[: left * FRAME_SAMPLES],
            before,
            left - middle,
        )
        second = self._decode(
            mel[:, right:], source[right * FRAME_SAMPLES :], middle - right, after
        )
        return np.concatenate([first.result(), second])

    def _decode(self, mel: Mel, source: Samples, before: int, after: int) -> Samples:
        feeds = {
            "mel": mel[None],
            "source": source[None, None],
            "before": np.array([before]),
            "after": np.array([after]),
        }
        return _only(self._decoder.run(feeds, ["samples"]))


def _only(outputs: list[NDArray[np.generic]]) -> Array:
    only: Array = outputs[0][0].astype(np.float32, copy=False)
    return only
