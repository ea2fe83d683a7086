"""The official vocoder, HiFT, as the engines know vocoders."""

from collections.abc import Sequence
from dataclasses import dataclass

from cosykit.seams import VocoderPiece, VocoderStream
from cosykit.synthesis.vocoder.chances import Drawn
from cosykit.synthesis.vocoder.faded import FadedStream
from cosykit.synthesis.vocoder.graphs import SAMPLE_RATE, HiftGraphs
from cosykit.synthesis.vocoder.seamless import SeamlessStream, decoded_together
from cosykit.types import Samples

# Context included, two threads take 2.3 ms a frame in pieces of 200 or of 400, 2.5 in
# those of 100. But 344 frames take 0.82 s in two pieces, and 0.78 s in one.
PIECE_FRAMES = 400


@dataclass(frozen=True, slots=True)
class HiftVocoder:
    """Speaks utterances with the three graphs.

    Attributes:
        as_upstream: Whether chunks are faded into each other as upstream's are, rather
            than continued.
        piece_frames: The most frames of a mel that one run adds.
    """

    graphs: HiftGraphs
    as_upstream: bool = False
    piece_frames: int = PIECE_FRAMES

    @property
    def sample_rate(self) -> int:
        """Samples a second."""
        return SAMPLE_RATE

    def begin(self, seed: Sequence[int]) -> VocoderStream:
        """Begin an utterance; the same seed and mel give the same samples."""
        chances = Drawn(seed)
        if self.as_upstream:
            return FadedStream(self.graphs, chances)
        return SeamlessStream(self.graphs, chances, self.piece_frames)

    def process_all(self, pieces: Sequence[VocoderPiece]) -> Sequence[Samples]:
        """Take the next frames of utterances, and decode as many at once as can be.

        Such are chunks of streams at the same place of their utterances.
        """
        streams = [piece.stream for piece in pieces]
        seamless = [s for s in streams if isinstance(s, SeamlessStream)]
        if len(seamless) < len(pieces):
            return [p.stream.process(p.mel, last=p.last) for p in pieces]
        decodes = [
            stream.decodes(piece.mel, last=piece.last)
            for stream, piece in zip(seamless, pieces, strict=True)
        ]
        return decoded_together(decodes, self.graphs)

    def close(self) -> None:
        """Nothing is to be freed; the sessions belong to whoever opened them."""
