"""What is told of speech while its text still comes."""

from dataclasses import dataclass


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
