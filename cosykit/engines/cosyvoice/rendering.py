"""The flow's and the vocoder's part: speech tokens to samples, in batches.

A rendering under way is left and taken up again between two runs of the estimator, so
that the language model can go on meanwhile.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import ceil

import numpy as np

from cosykit.engines.cosyvoice.timing import StageTimes
from cosykit.engines.cosyvoice.utterance import Utterance
from cosykit.seams import BatchVocoder, VocoderPiece
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

    def __init__(
        self,
        flow: Flow,
        vocoder: BatchVocoder,
        parts: Sequence[Part],
        times: StageTimes,
    ) -> None:
        self.parts = tuple(parts)
        self.is_over = False
        self._steps = self._render(flow, vocoder, times)

    def step(self) -> Spoken | None:
        """Do one run, and give the samples that it brought."""
        return next(self._steps)

    def _render(
        self, flow: Flow, vocoder: BatchVocoder, times: StageTimes
    ) -> Generator[Spoken | None]:
        steps = flow.steps([part.to_flow() for part in self.parts])
        mels: Sequence[Mel] = yield from times.each("flow", steps)
        rounds = zip_longest(*map(_pieces, self.parts, mels))
        speaking = len(self.parts)
        for pieces in rounds:
            going = [piece for piece in pieces if piece]
            with times.measure("vocoder"):
                spoken = vocoder.process_all([piece.to_vocoder() for piece in going])
            for piece, samples in zip(going, spoken, strict=True):
                speaking -= piece.is_whole
                self.is_over = not speaking
                yield Spoken(piece.part, samples, piece.is_whole)


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """Frames of a part.

    Attributes:
        is_whole: Whether these are its last.
    """

    part: Part
    mel: Mel
    is_whole: bool

    def to_vocoder(self) -> VocoderPiece:
        """Give what the vocoder needs of it."""
        last = self.is_whole and self.part.chunk.last
        return VocoderPiece(self.part.utterance.vocoder, self.mel, last)


def _pieces(part: Part, mel: Mel) -> Sequence[_Piece]:
    count = max(1, ceil(mel.shape[1] / _PIECE_FRAMES))
    *mels, rest = np.array_split(mel, count, axis=1)
    return [*(_Piece(part, each, False) for each in mels), _Piece(part, rest, True)]
