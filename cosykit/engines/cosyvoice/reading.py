"""What the language model reads before it speaks.

    [start, speaker, states of the prompt's text and of the text, task, prompt's speech]

Source: cosyvoice/llm/llm.py TransformerLM.inference
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosykit.runtime.session import Session
from cosykit.spec import ModelFacts

Array = NDArray[np.float32]
Tokens = NDArray[np.int64]

_MARKS = 2


@dataclass(frozen=True, slots=True, eq=False)
class LmPrompt:
    """What stands before the text and the speech of an utterance.

    Attributes:
        speaker: Speaker vector, (speaker size); None leaves its place out.
        text: Text tokens.
        speech: Speech tokens.
    """

    speaker: Array | None
    text: Tokens
    speech: Tokens

    def steps(self, text_tokens: int) -> int:
        """Count what the model reads before it speaks so many text tokens."""
        speakers = 0 if self.speaker is None else 1
        return _MARKS + speakers + self.text.size + text_tokens + self.speech.size


class Reader:
    """Turns tokens and speakers into what the language model reads.

    Args:
        text_encoder: text_encoder.onnx
        embedding: lm_embedding.onnx
    """

    def __init__(
        self, text_encoder: Session, embedding: Session, facts: ModelFacts
    ) -> None:
        self._text_encoder, self._embedding = text_encoder, embedding
        self._nobody = np.zeros((0, facts.speaker_size), np.float32)
        marks = self._embedded(np.zeros(0, np.int64), self._nobody, "marks")
        self._start, self._task = np.split(marks, _MARKS)

    def speech(self, tokens: Tokens) -> Array:
        """Give what the model reads of speech tokens, (tokens, size)."""
        # The graph reads the rows that are asked for, where a table of our own would
        # take 17 MB.
        return self._embedded(tokens, self._nobody, "token_embeddings")

    def prefix(self, prompt: LmPrompt, text: Tokens) -> Array:
        """Give what the model reads before an utterance, (steps, size)."""
        tokens = np.concatenate([prompt.text, text])
        (states,) = self._text_encoder.run({"tokens": tokens[None]}, ["states"])
        parts: list[Array] = [
            self._start,
            states[0].astype(np.float32, copy=False),
            self._task,
            self.speech(prompt.speech),
        ]
        if prompt.speaker is not None:
            parts.insert(1, self._mapped(prompt.speaker))
        return np.concatenate(parts)

    def _mapped(self, speaker: Array) -> Array:
        nothing = np.zeros(0, np.int64)
        return self._embedded(nothing, speaker[None], "speaker_embeddings")

    def _embedded(self, tokens: Tokens, speakers: Array, name: str) -> Array:
        feeds: dict[str, NDArray[np.generic]] = {"tokens": tokens, "speakers": speakers}
        (found,) = self._embedding.run(feeds, [name])
        return found.astype(np.float32, copy=False)
