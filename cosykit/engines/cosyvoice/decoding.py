"""The language model's part: speech tokens for all utterances, a step at a time."""

from collections.abc import Sequence

from cosykit.engines.cosyvoice.prefill import Prefill
from cosykit.engines.cosyvoice.reading import Array, LmPrompt, Reader
from cosykit.engines.cosyvoice.utterance import Utterance
from cosykit.errors import ModelLoadError
from cosykit.synthesis.lm.decoder import LanguageModel
from cosykit.synthesis.lm.sampling import choose


class Decoding:
    """The utterances that are being decoded, each in a slot of the language model.

    Args:
        slots: Most utterances at once.
    """

    def __init__(self, model: LanguageModel, reader: Reader, slots: int) -> None:
        self._model, self._slots = model, slots
        self._prefill = Prefill(reader, model)
        self._embeddings = reader.speech_embeddings
        self._end_token = self._embeddings.shape[0]
        # In the order of their slots.
        self._utterances: list[Utterance] = []

    @property
    def has_room(self) -> bool:
        """Whether one more utterance can begin."""
        return len(self._utterances) < self._slots

    @property
    def utterances(self) -> Sequence[Utterance]:
        """Those that have not ended."""
        return tuple(self._utterances)

    def begin(self, utterance: Utterance, prompt: LmPrompt) -> None:
        """Let an utterance begin after a prompt, and choose its first token."""
        scores = self._prefill.begin(prompt, utterance.piece.tokens)
        self._utterances.append(utterance)
        self._choose([utterance], scores[None])

    def step(self) -> None:
        """Choose the next token of every utterance."""
        if not self._utterances:
            return
        last = [utterance.tokens[-1] for utterance in self._utterances]
        try:
            scores = self._model.step(self._embeddings[last])
        except ModelLoadError as error:
            # Shorter ones go on at the next step.
            longest = self._utterances[self._model.longest]
            longest.failure, longest.ended = error, True
            self._release_ended()
            return
        self._choose(self._utterances, scores)

    def drop(self, utterance: Utterance) -> None:
        """Let go of an utterance, if it is being decoded."""
        if utterance in self._utterances:
            self._release(self._utterances.index(utterance))

    def _choose(self, utterances: Sequence[Utterance], scores: Array) -> None:
        tokens = choose(scores, [utterance.choice() for utterance in utterances])
        for utterance, token in zip(utterances, tokens, strict=True):
            utterance.take(token, self._end_token)
        self._release_ended()

    def _release_ended(self) -> None:
        for utterance in [u for u in self._utterances if u.ended]:
            self._release(self._utterances.index(utterance))

    def _release(self, slot: int) -> None:
        moved = self._model.end(slot)
        self._utterances[slot] = self._utterances[moved]
        self._utterances.pop()
