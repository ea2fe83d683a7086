"""The flow's and the vocoder's part: speech tokens to samples, in batches.

A rendering under way is left and taken up again between two runs of the estimator, so
that the language model can go on meanwhile.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from cosykit.engines.cosyvoice.timing import StageTimes
from cosykit.engines.cosyvoice.utterance import Utterance
from cosykit.synthesis.flow.chunks import Chunk
from cosykit.synthesis.flow.model import Flow, FlowPart
from cosykit.types import Mel, Samples


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

    def to_samples(self, mel: Mel) -> Samples:
        """Speak the mel that the flow gave for it."""
        return self.utterance.vocoder.process(mel, last=self.chunk.last)


class Rendering:
    """A batch of parts on its way to samples."""

    def __init__(self, flow: Flow, parts: Sequence[Part], times: StageTimes) -> None:
        self.parts = tuple(parts)
        self._steps = self._render(flow, times)

    def step(self) -> Sequence[tuple[Part, Samples]] | None:
        """Do one run; at the end, give the samples of each part."""
        try:
            next(self._steps)
        except StopIteration as end:
            samples: Sequence[Samples] = end.value
            return tuple(zip(self.parts, samples, strict=True))
        return None

    def _render(
        self, flow: Flow, times: StageTimes
    ) -> Generator[None, None, Sequence[Samples]]:
        steps = flow.steps([part.to_flow() for part in self.parts])
        mels = yield from times.each("flow", steps)
        samples = []
        for part, mel in zip(self.parts, mels, strict=True):
            with times.measure("vocoder"):
                samples.append(part.to_samples(mel))
            if part is not self.parts[-1]:
                yield
        return samples
