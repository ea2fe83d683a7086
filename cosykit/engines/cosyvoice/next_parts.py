"""Choose the chunks that are rendered next, of who has heard nothing before others."""

from collections.abc import Sequence

from cosykit.engines.cosyvoice.rendering import Part
from cosykit.engines.cosyvoice.speech import Speech

# Where several chunks are rendered at once, those that are ready wait so many tokens
# for others: newcomers begin a token apart. Chosen without a GPU to measure on.
_TOKENS_FOR_COMPANY = 8


class NextParts:
    """Takes the chunks of requests that can be rendered.

    Args:
        most: Chunks that are rendered at once.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waited = 0

    def take(self, speeches: Sequence[Speech]) -> Sequence[Part]:
        """Take chunks, called once a token; none while ready ones wait for others."""
        if self._most > 1 and self._await_others(speeches):
            return ()
        return self._ready(speeches, heard=False) or self._ready(speeches, heard=True)

    def _await_others(self, speeches: Sequence[Speech]) -> bool:
        unheard = _missing_tokens(speeches, heard=False)
        missing = unheard if 0 in unheard else _missing_tokens(speeches, heard=True)
        patience = _TOKENS_FOR_COMPANY - self._waited
        has_room = 0 < missing.count(0) < self._most
        waits = has_room and any(0 < tokens <= patience for tokens in missing)
        self._waited = self._waited + 1 if waits else 0
        return waits

    def _ready(self, speeches: Sequence[Speech], *, heard: bool) -> Sequence[Part]:
        """Collect the chunks of who is heard already, or of others."""
        parts: list[Part] = []
        for speech in speeches:
            is_meant = speech.is_heard == heard and speech.utterances
            if len(parts) == self._most or not is_meant:
                continue
            utterance = speech.utterances[0]
            if chunk := utterance.next_chunk():
                parts.append(Part(utterance, chunk))
        return parts


def _missing_tokens(speeches: Sequence[Speech], *, heard: bool) -> Sequence[int]:
    """Say how many tokens the next chunks of requests need, of those that are known."""
    missing = [
        speech.utterances[0].missing_tokens
        for speech in speeches
        if speech.is_heard == heard and speech.utterances
    ]
    return [tokens for tokens in missing if tokens is not None]
