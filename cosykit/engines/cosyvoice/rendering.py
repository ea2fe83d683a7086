"""The flow's and the vocoder's part: speech tokens to samples, in batches.

A rendering under way is left and taken up again between two runs of the estimator, so
that the language model can go on meanwhile.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from cosykit.engines.cosyvoice.timing import StageTimes
from cosykit.engines.cosyvoice.utterance import Utterance
from cosykit.synthesis.flow.chunks import Chunk
from cosykit.synthesis.flow.model import Flow, FlowPart
from cosykit.types import Mel, Samples

# Longer runs of the vocoder take more memory, and no less time a frame.
_PIECE_FRAMES = 400


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A chunk of an utterance that is to be made into samples."""

    utterance: Utterance
    chunk: Chunk

    def to_flow(self) -> FlowPart:
        """Give what the flow needs of it."""
        tokens = self.utterance.tokens[self.chunk.start : self.chunk.end]
        return FlowPart(
            self.utterance.flow, np.array(tokens, np.int64), last=self.chunk.last
        )


@dataclass(frozen=True, slots=True, eq=False)
class Spoken:
    """Samples of a part.

    Attributes:
        is_whole: Whether these are its last.
    """

    part: Part
    samples: Samples
    is_whole: bool


class Rendering:
    """A batch of parts on its way to samples.

    Attributes:
        is_over: Whether all samples were given.
    """

    def __init__(self, flow: Flow, parts: Sequence[Part], times: StageTimes) -> None:
        self.parts = tuple(parts)
        self.is_over = False
        self._steps = self._render(flow, times)

    def step(self) -> Spoken | None:
        """Do one run, and give the samples that it brought."""
        return next(self._steps)

    def _render(self, flow: Flow, times: StageTimes) -> Generator[Spoken | None]:
        steps = flow.steps([part.to_flow() for part in self.parts])
        mels: Sequence[Mel] = yield from times.each("flow", steps)
        for part, mel in zip(self.parts, mels, strict=True):
            pieces = max(1, ceil(mel.shape[1] / _PIECE_FRAMES))
            for number, piece in enumerate(np.array_split(mel, pieces, axis=1), 1):
                is_whole = number == pieces
                is_last = is_whole and part.chunk.last
                with times.measure("vocoder"):
                    samples = part.utterance.vocoder.process(piece, last=is_last)
                self.is_over = is_whole and part is self.parts[-1]
                yield Spoken(part, samples, is_whole)
