"""The three graphs of the official vocoder.

Source: cosyvoice/hifigan/generator.py HiFTGenerator.inference
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

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
# The most frames that are decoded together.
_BATCH_FRAMES = 1600


@dataclass(frozen=True, slots=True, eq=False)
class Excerpt:
    """A part of a mel, to be decoded.

    Attributes:
        mel: (mels, frames).
        source: FRAME_SAMPLES samples a frame.
        before: Frames at the start that are there only for others to see.
        after: Such frames at the end.
    """

    mel: Mel
    source: Samples
    before: int = 0
    after: int = 0

    @property
    def extent(self) -> tuple[int, int, int]:
        """What those have in common that can be decoded together."""
        return self.mel.shape[-1], self.before, self.after


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

    def decode_all(self, excerpts: Sequence[Excerpt]) -> Sequence[Samples]:
        """Decode excerpts, those of the same extent in one run.

        Others would need padding, which the decoder could tell from an end.
        """
        found: dict[int, Samples] = {}
        for places in _batches(excerpts):
            batch = [excerpts[place] for place in places]
            found |= zip(places, self._together(batch), strict=True)
        return [found[place] for place in range(len(excerpts))]

    def decode(self, excerpt: Excerpt) -> Samples:
        """Give FRAME_SAMPLES samples for each frame that is no context."""
        mel, source = excerpt.mel, excerpt.source
        frames, before, after = excerpt.extent
        if self._beside is None or frames - before - after < _LEAST_FRAMES:
            return self._alone(mel, source, before, after)
        middle = (before + frames - after) // 2
        right = max(middle - DECODER_REACH, 0)
        left = min(middle + DECODER_REACH, frames)
        first = self._beside.submit(
            self._alone,
            mel[:, :left],
            source[: left * FRAME_SAMPLES],
            before,
            left - middle,
        )
        second = self._alone(
            mel[:, right:], source[right * FRAME_SAMPLES :], middle - right, after
        )
        return np.concatenate([first.result(), second])

    def _together(self, batch: Sequence[Excerpt]) -> Sequence[Samples]:
        if len(batch) == 1:
            return [self.decode(batch[0])]
        samples = self._decode(
            np.stack([each.mel for each in batch]),
            np.stack([each.source for each in batch]),
            batch[0].before,
            batch[0].after,
        )
        return [*samples]

    def _alone(self, mel: Mel, source: Samples, before: int, after: int) -> Samples:
        samples: Samples = self._decode(mel[None], source[None], before, after)[0]
        return samples

    def _decode(self, mels: Array, sources: Array, before: int, after: int) -> Array:
        """Decode (batch, mels, frames) and (batch, samples)."""
        feeds = {
            "mel": mels,
            "source": sources[:, None],
            "before": np.array([before]),
            "after": np.array([after]),
        }
        (samples,) = self._decoder.run(feeds, ["samples"])
        return samples.astype(np.float32, copy=False)


def _batches(excerpts: Sequence[Excerpt]) -> Sequence[Sequence[int]]:
    """Put the places of those together that have the same extent."""
    by_extent: dict[tuple[int, int, int], list[int]] = {}
    for place, excerpt in enumerate(excerpts):
        by_extent.setdefault(excerpt.extent, []).append(place)
    batches = []
    for (frames, *_), places in by_extent.items():
        most = max(1, _BATCH_FRAMES // max(frames, 1))
        batches += [places[n : n + most] for n in range(0, len(places), most)]
    return batches


def _only(outputs: list[NDArray[np.generic]]) -> Array:
    only: Array = outputs[0][0].astype(np.float32, copy=False)
    return only
