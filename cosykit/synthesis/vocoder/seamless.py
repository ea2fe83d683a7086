"""Speak a mel in pieces whose joins cannot be told from one long run.

    heard     |====================================|   mel frames so far
    pitched   |===============================|        those whose source is final
    spoken    |=================|                      those whose samples are given
    kept               |===========================|   for the next piece

Every piece sees as many frames around it as the networks reach, and the phase of the
source goes on where the piece before left it. A piece is bounded, so memory is too, and
a chunk costs the same however much was said before it.
"""

from collections.abc import Generator, Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray

from cosykit.synthesis.vocoder.chances import WAVES, Chances
from cosykit.synthesis.vocoder.graphs import (
    DECODER_REACH,
    FRAME_SAMPLES,
    PITCH_REACH,
    SAMPLE_RATE,
    Excerpt,
    HiftGraphs,
)
from cosykit.types import Mel, Samples

Array = NDArray[np.float32]
Decodes = Generator[Excerpt, Samples, Samples]
"""Gives what is to be decoded, takes the samples of that, and returns its own."""


class SeamlessStream:
    """One utterance.

    Args:
        piece_frames: The most frames that a piece adds.
    """

    def __init__(self, graphs: HiftGraphs, chances: Chances, piece_frames: int) -> None:
        self._graphs, self._piece_frames = graphs, piece_frames
        self._source = _ContinuedSource(graphs, chances)
        self._mel: Mel | None = None
        self._sourced = np.zeros(0, np.float32)
        # Frames of the utterance before the kept ones, and those already given.
        self._start = self._spoken = 0

    def process(self, mel: Mel, *, last: bool) -> Samples:
        """Take the next frames and give the samples that are ready."""
        return decoded_together([self.decodes(mel, last=last)], self._graphs)[0]

    def decodes(self, mel: Mel, *, last: bool) -> Decodes:
        """Do as `process` does, but leave the decoding to the caller."""
        count = max(1, ceil(mel.shape[-1] / self._piece_frames))
        *pieces, rest = np.array_split(mel, count, axis=-1)
        spoken = []
        for piece in pieces:
            spoken.append((yield from self._piece(piece, last=False)))
        spoken.append((yield from self._piece(rest, last=last)))
        return np.concatenate(spoken)

    def _piece(self, mel: Mel, *, last: bool) -> Decodes:
        if self._mel is not None:
            mel = np.concatenate([self._mel, mel], axis=-1)
        self._mel = mel
        self._extend_source(last)
        pitched = self._start + self._sourced.size // FRAME_SAMPLES
        ready = pitched if last else pitched - DECODER_REACH
        if ready <= self._spoken:
            return np.zeros(0, np.float32)
        samples = yield Excerpt(
            mel[:, : pitched - self._start],
            self._sourced,
            before=self._spoken - self._start,
            after=pitched - ready,
        )
        self._spoken = ready
        self._forget(ready - DECODER_REACH)
        return samples

    def _extend_source(self, last: bool) -> None:
        """Make the source of all frames whose pitch later frames cannot change."""
        assert self._mel is not None
        done = self._sourced.size // FRAME_SAMPLES
        final = self._mel.shape[-1] - (0 if last else PITCH_REACH)
        if final <= done:
            return
        first = max(done - PITCH_REACH, 0)
        f0 = self._graphs.pitch(self._mel[:, first:])[done - first : final - first]
        self._sourced = np.concatenate([self._sourced, self._source.extend(f0)])

    def _forget(self, start: int) -> None:
        """Drop the frames before `start`."""
        assert self._mel is not None
        passed = max(start - self._start, 0)
        self._mel = self._mel[:, passed:]
        self._sourced = self._sourced[passed * FRAME_SAMPLES :]
        self._start += passed


def decoded_together(
    streams: Sequence[Decodes], graphs: HiftGraphs
) -> Sequence[Samples]:
    """Decode at once what several streams have to decode next, until all are done."""
    spoken: dict[int, Samples] = {}
    answers: dict[int, Samples | None] = dict.fromkeys(range(len(streams)))
    while answers:
        asked = {}
        for place, answer in answers.items():
            try:
                asked[place] = _resumed(streams[place], answer)
            except StopIteration as end:
                spoken[place] = end.value
        answers = dict(zip(asked, graphs.decode_all([*asked.values()]), strict=True))
    return [spoken[place] for place in range(len(streams))]


def _resumed(stream: Decodes, answer: Samples | None) -> Excerpt:
    return next(stream) if answer is None else stream.send(answer)


class _ContinuedSource:
    """The source of an utterance, whose phase never jumps."""

    def __init__(self, graphs: HiftGraphs, chances: Chances) -> None:
        self._graphs, self._chances = graphs, chances
        self._phases = chances.phases()
        self._turn = 0.0

    def extend(self, f0: Array) -> Samples:
        """Give the source of further frames of Hz."""
        noise = self._chances.noise(f0.size * FRAME_SAMPLES)
        # The graph begins at phase 0: a frame goes ahead that ends at ours.
        ahead = np.float32(self._turn * SAMPLE_RATE / FRAME_SAMPLES)
        silence = np.zeros((WAVES, FRAME_SAMPLES), np.float32)
        source = self._graphs.source(
            np.concatenate([[ahead], f0]),
            self._phases,
            np.concatenate([silence, noise], axis=-1),
        )
        cycles = f0.astype(np.float64).sum() * FRAME_SAMPLES / SAMPLE_RATE
        self._turn = (self._turn + cycles) % 1
        return source[FRAME_SAMPLES:]
