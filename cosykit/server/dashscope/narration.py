"""What happens to a spoken text, in DashScope's words, for a socket and over HTTP."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from cosykit.errors import InputError
from cosykit.server.dashscope.characters import count_characters
from cosykit.server.dashscope.messages import Result, ResultKind, Sentence
from cosykit.server.live import LiveSpeech
from cosykit.server.live_events import (
    EncodedAudio,
    Interrupted,
    LiveEvent,
    SentenceBegan,
    SentenceEnded,
)


@dataclass(frozen=True, slots=True)
class Generated:
    """A result, and the audio that goes with it.

    Attributes:
        characters: Of all sentences that have ended; None where none has now.
    """

    result: Result
    audio: bytes = b""
    characters: int | None = None


class Narration:
    """Tells of a speech what DashScope tells.

    Attributes:
        characters: Of the sentences that have ended.
        is_last: Whether no more text comes. The last bytes of a stream come after its
            last sentence, so the end of a sentence then waits for what follows.
    """

    def __init__(self, live: LiveSpeech) -> None:
        self.characters = 0
        self.is_last = False
        self._live = live
        self._index: int | None = None
        self._held: Generated | None = None

    async def results(self) -> AsyncGenerator[Generated]:
        """Yield what happens until all is spoken; closing the iterator cancels it.

        Raises:
            InputError: There is nothing to speak in the text.
            CosykitError: It cannot be spoken, or not now.
        """
        async with aclosing(self._live.events()) as events:
            async for event in events:
                if isinstance(event, SentenceBegan) and self._held:
                    yield self._held
                    self._held = None
                if told := self._told(event):
                    yield told
        if self._index is None:
            raise nothing_to_speak()
        if self._held:
            yield self._held

    def _told(self, event: LiveEvent) -> Generated | None:
        match event:
            case SentenceBegan(index, text):
                self._index = index
                return Generated(self._result("sentence-begin", text))
            case EncodedAudio() if self._index is None:
                # Nothing but the frame that stands for an empty stream.
                raise nothing_to_speak()
            case EncodedAudio(piece):
                return Generated(self._result("sentence-synthesis"), piece)
            case SentenceEnded():
                return self._ended(event)
            case Interrupted():
                return None

    def _result(self, kind: ResultKind, text: str | None = None) -> Result:
        sentence = Sentence(index=self._index)
        return Result(sentence=sentence, type=kind, original_text=text)

    def _ended(self, event: SentenceEnded) -> Generated | None:
        self.characters += count_characters(event.text)
        result = self._result("sentence-end", event.text)
        ended = Generated(result, characters=self.characters)
        if not self.is_last:
            return ended
        self._held = ended
        return None


def nothing_to_speak() -> InputError:
    """Say that there was no text, or no word in it."""
    return InputError(
        "Please ensure input text is valid.",
        hint="Write at least one word",
        param="text",
    )
