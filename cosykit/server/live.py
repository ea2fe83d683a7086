"""Speech of a text that comes in pieces, as one encoded stream, for every protocol."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from cosykit.audio.formats import media_type
from cosykit.server.service import SpeechService
from cosykit.server.speech import Output
from cosykit.types import SpeechRequest


@dataclass(frozen=True, slots=True)
class SentenceBegan:
    """The audio that follows is of this sentence.

    Attributes:
        index: Of the sentence in the stream, from 0.
        text: As it was fed, with the spaces around it.
    """

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class EncodedAudio:
    """The next bytes of the stream; joined they are one valid file."""

    piece: bytes


@dataclass(frozen=True, slots=True)
class SentenceEnded:
    """All samples of a sentence have gone into the encoder.

    Attributes:
        duration_s: Length of its speech.
    """

    index: int
    text: str
    duration_s: float


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Nothing that was fed before the interruption is heard from here on.

    The encoded stream is broken off; what follows is a new one.
    """


LiveEvent = SentenceBegan | EncodedAudio | SentenceEnded | Interrupted


class LiveSpeech:
    """Speech of a text that comes in pieces, as one encoded stream.

    All of it belongs to one event loop.

    Args:
        manner: How to speak; its text is not looked at.

    Attributes:
        sample_rate: Samples a second of the encoded audio, once it has started.
        duration_s: Seconds of speech made so far.
    """

    def __init__(
        self, service: SpeechService, manner: SpeechRequest, out: Output
    ) -> None:
        self.sample_rate = 0
        self.duration_s = 0.0
        self._service = service
        self._manner = manner
        self._out = out

    @property
    def media_type(self) -> str:
        """Value of a `Content-Type` header, once it has started."""
        return media_type(self._out.audio_format, self.sample_rate)

    def feed(self, text: str) -> None:
        """Take the next part of the text, cut anywhere.

        Raises:
            InputError: Too much text waits to be spoken.
        """
        raise NotImplementedError

    def flush(self) -> None:
        """Speak what has come, whether or not a sentence has ended."""
        raise NotImplementedError

    def finish(self) -> None:
        """Say that no more text comes."""
        raise NotImplementedError

    def interrupt(self) -> None:
        """Drop what is being said and all that waits; more may be fed afterwards."""
        raise NotImplementedError

    async def start(self) -> None:
        """Wait for the model and open the encoder; `events` does it where left out.

        Raises:
            CosykitError: Nobody can speak in this manner, or not now.
        """
        raise NotImplementedError

    async def events(self) -> AsyncGenerator[LiveEvent]:
        """Yield what happens until all is spoken; closing the iterator cancels it.

        Raises:
            CosykitError: It cannot be spoken, or not now.
        """
        raise NotImplementedError
        yield EncodedAudio(b"")
