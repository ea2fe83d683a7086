"""Let the language model read what stands before the speech, and keep what it can.

Neither the states of a text nor what the model makes of them depend on what comes
later. So a voice with its transcript, or instructions, are read once, up to the text.
Recorded speech stands behind the text, sees it, and is read anew for every utterance.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from cosykit.engines.cosyvoice.reading import Array, LmPrompt, Reader, Start, Tokens
from cosykit.engines.cosyvoice.remembered import Remembered
from cosykit.errors import ComputationError
from cosykit.synthesis.lm.cache import KeptFrames
from cosykit.synthesis.lm.decoder import LanguageModel

# Each takes 0.16 MB a text token of the full model, 25 MB for 30 s of recorded speech.
_KEPT = 8


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    start: Start
    frames: KeptFrames


class Prefill:
    """Begins the sequences of a language model."""

    def __init__(self, reader: Reader, model: LanguageModel) -> None:
        self._reader, self._model = reader, model
        self._read: Remembered[_Read] = Remembered(_KEPT)

    def begin(self, prompt: LmPrompt, text: Tokens) -> Array:
        """Begin a sequence in the next slot, which must be free.

        Returns:
            The log-probabilities of the first speech token, (vocabulary).
        """
        if not prompt.text.size:
            start = self._reader.start(prompt)
            rest = self._reader.rest(prompt, start, text)
            whole = np.concatenate([start.embeddings, rest])
            return self._model.begin(whole)[1]
        read = self._read.get(prompt.start, partial(self._start, prompt))
        rest = self._reader.rest(prompt, read.start, text)
        return self._model.begin(rest, after=read.frames)[1]

    def _start(self, prompt: LmPrompt) -> _Read:
        start = self._reader.start(prompt)
        slot, scores = self._model.begin(start.embeddings)
        frames = self._model.kept(slot)
        self._model.end(slot)
        if np.isnan(scores).any():
            # Not to be kept for others.
            raise ComputationError("the language model")
        return _Read(start, frames)
