"""What the language model reads before it speaks.

    [start, speaker, states of the prompt's text and of the text, task, prompt's speech]

Source: cosyvoice/llm/llm.py TransformerLM.inference
"""

from collections.abc import Callable, Mapping
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

    @property
    def start(self) -> bytes:
        """What tells the beginning, up to the text, from that of other prompts."""
        speaker = b"" if self.speaker is None else self.speaker.tobytes()
        return b"%d %s%s" % (self.text.size, self.text.tobytes(), speaker)

    def steps(self, text_tokens: int) -> int:
        """Count what the model reads before it speaks so many text tokens."""
        speakers = 0 if self.speaker is None else 1
        return _MARKS + speakers + self.text.size + text_tokens + self.speech.size


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """The beginning of a prompt, up to the text.

    Attributes:
        embeddings: What the language model reads, (steps, size).
        past: What the encoder of texts keeps of the prompt's text.
    """

    embeddings: Array
    past: Mapping[str, NDArray[np.generic]]


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
        past = [name for name in text_encoder.inputs if name != "tokens"]
        self._no_past = {name: text_encoder.nothing(name) for name in past}
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

    def start(self, prompt: LmPrompt) -> Start:
        """Give what the model reads before the text."""
        states, past = self._encoded(prompt.text, self._no_past)
        parts: list[Array] = [self._start, states]
        if prompt.speaker is not None:
            parts.insert(1, self._mapped(prompt.speaker))
        return Start(np.concatenate(parts), past)

    def rest(self, prompt: LmPrompt, start: Start, text: Tokens) -> Array:
        """Give what it reads from there on, before it speaks, (steps, size)."""
        states, _ = self._encoded(text, start.past)
        speech = self.speech_embeddings[prompt.speech]
        return np.concatenate([states, self._task, speech])

    def _encoded(
        self, text: Tokens, past: Mapping[str, NDArray[np.generic]]
    ) -> tuple[Array, Mapping[str, NDArray[np.generic]]]:
        """Give the states of a text, (tokens, size), and the past of what follows."""
        if not text.size:
            return self._start[:0], past
        outputs = ["states", *(f"new_{name}" for name in past)]
        states, *grown = self._text_encoder.run({"tokens": text[None], **past}, outputs)
        return (
            states[0].astype(np.float32, copy=False),
            dict(zip(past, grown, strict=True)),
        )

    def _mapped(self, speaker: Array) -> Array:
        feeds: dict[str, NDArray[np.generic]] = {
            "tokens": np.zeros(1, np.int64),
            "speakers": speaker[None],
        }
        (mapped,) = self._embedding.run(feeds, ["speaker_embeddings"])
        return mapped.astype(np.float32, copy=False)
