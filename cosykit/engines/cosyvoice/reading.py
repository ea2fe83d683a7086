"""What the language model reads before it speaks.

    [start, speaker, states of the prompt's text and of the text, task, prompt's speech]

Source: cosyvoice/llm/llm.py TransformerLM.inference
"""

from collections.abc import Callable
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
        open_embedding: Opens lm_embedding.onnx.
    """

    def __init__(
        self,
        text_encoder: Session,
        open_embedding: Callable[[], Session],
        facts: ModelFacts,
    ) -> None:
        self._text_encoder = text_encoder
        tokens = np.arange(facts.speech_vocabulary)
        nobody = np.zeros((1, facts.speaker_size), np.float32)
        outputs = open_embedding().run(
            {"tokens": tokens, "speakers": nobody}, ["token_embeddings", "marks"]
        )
        table, marks = (output.astype(np.float32, copy=False) for output in outputs)
        self.speech_embeddings: Array = table
        """What the model reads of each speech token, (vocabulary, size)."""
        self._start, self._task = np.split(marks, _MARKS)
        # The session above has read all of its file; this one takes 17 MB less.
        self._embedding = open_embedding()

    def prefix(self, prompt: LmPrompt, text: Tokens) -> Array:
        """Give what the model reads before an utterance, (steps, size)."""
        tokens = np.concatenate([prompt.text, text])
        (states,) = self._text_encoder.run({"tokens": tokens[None]}, ["states"])
        parts: list[Array] = [
            self._start,
            states[0].astype(np.float32, copy=False),
            self._task,
            self.speech_embeddings[prompt.speech],
        ]
        if prompt.speaker is not None:
            parts.insert(1, self._mapped(prompt.speaker))
        return np.concatenate(parts)

    def _mapped(self, speaker: Array) -> Array:
        feeds: dict[str, NDArray[np.generic]] = {
            "tokens": np.zeros(1, np.int64),
            "speakers": speaker[None],
        }
        (mapped,) = self._embedding.run(feeds, ["speaker_embeddings"])
        return mapped.astype(np.float32, copy=False)
