"""From a text to the pieces that a language model reads one by one.

    text ─▶ sentences ─▶ pieces of much the same length ─▶ tokens

Source: cosyvoice/cli/frontend.py CosyVoiceFrontEnd.text_normalize, in purpose
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cosykit.errors import InputError, quoted
from cosykit.seams import TextFrontend
from cosykit.synthesis.text.balance import Stretch, balanced
from cosykit.synthesis.text.frontend import nothing_to_speak
from cosykit.synthesis.text.korean import korean_sentences
from cosykit.synthesis.text.language import LANGUAGE_TAG, is_korean, main_language
from cosykit.synthesis.text.marks import HeldMarks, has_marks, has_words
from cosykit.synthesis.text.punctuation import closed, joined, plain
from cosykit.synthesis.text.recent import RecentTexts
from cosykit.synthesis.text.sentences import split_sentences
from cosykit.synthesis.text.told import told
from cosykit.synthesis.text.whisper.tokenizer import WhisperTokenizer
from cosykit.types import Language, Sentence, Span

_WHISPER = WhisperTokenizer()
_NO_READINGS: Mapping[str, str] = MappingProxyType({})


class TextTokenizer(Protocol):
    """Turns text into the tokens of a model."""

    def encode(self, text: str) -> NDArray[np.int64]:
        """Turn any text into tokens, (tokens)."""


@dataclass(frozen=True, slots=True, eq=False)
class TextPiece:
    """What a language model reads in one go.

    Attributes:
        text: Without a language tag.
        tokens: The text after its tag, if it has one, int64 (tokens).
        ends_paragraph: Whether a line break followed in the original text.
    """

    text: str
    tokens: NDArray[np.int64]
    ends_paragraph: bool = False


class _Manner(NamedTuple):
    """How a text is cut; see `TextPieces.cut`."""

    language: Language | None
    tagged: bool
    readings: tuple[tuple[str, str], ...]


class TextPieces:
    """Cuts texts for a model; any number of threads may use one.

    Args:
        frontend: Cleans and normalises all but Korean and what has marks for the model.
        tokenizer: The model's.
        normalizes: Whether to write out numbers in Korean too.
    """

    def __init__(
        self,
        frontend: TextFrontend,
        tokenizer: TextTokenizer = _WHISPER,
        *,
        normalizes: bool = True,
    ) -> None:
        self._frontend, self._tokenizer = frontend, tokenizer
        self._normalizes = normalizes
        self._recent = RecentTexts(self._cut)

    def cut(
        self,
        text: str,
        language: Language | None = None,
        *,
        tagged: bool = False,
        pronunciations: Mapping[str, str] = _NO_READINGS,
    ) -> Sequence[TextPiece]:
        """Cut a text into pieces that lose and repeat nothing, at least one.

        A text with marks for the model, see `marks`, is cut and otherwise left alone;
        each of its pieces begins with the language tag that is in force there. Pinyin
        of the user's own is written in characters that are read so.

        Args:
            language: The main language; None detects it.
            tagged: Whether a text without marks gets a tag of its language, for voices
                were recorded in another.
            pronunciations: Readings that come before those of the front end.

        Raises:
            InputError: Nothing in the text can be spoken, or a reading not be used.
        """
        readings = tuple(sorted(pronunciations.items()))
        return self._recent.get(text, _Manner(language, tagged, readings))

    def normalized(self, text: str, language: Language | None = None) -> str:
        """Normalise a text without cutting it, such as what is said in a recording.

        Raises:
            InputError: Nothing in the text can be spoken.
        """
        if has_marks(text):
            return text.strip()
        sentences = _closed(self._sentences(text, language))
        return reduce(joined, (sentence.text for sentence in sentences))

    def _cut(self, text: str, manner: _Manner) -> Sequence[TextPiece]:
        if has_marks(text):
            return tuple(self._left_alone(text))
        pronunciations = dict(manner.readings)
        _check_written(pronunciations)
        sentences = self._sentences(text, manner.language, pronunciations)
        pieces = balanced(_closed(sentences), self._size)
        tag = ""
        if manner.tagged:
            tag = f"<|{manner.language or main_language(text)}|>"
        return tuple(self._piece(piece, tag) for piece in pieces)

    def _sentences(
        self,
        text: str,
        language: Language | None,
        pronunciations: Mapping[str, str] = _NO_READINGS,
    ) -> Sequence[Sentence]:
        if language != "ko" and not is_korean(text):
            return told(self._frontend, pronunciations).sentences(text, language)
        sentences = korean_sentences(text, normalize=self._normalizes)
        if not sentences:
            raise nothing_to_speak()
        return sentences

    def _left_alone(self, text: str) -> Iterator[TextPiece]:
        if not has_words(text):
            raise nothing_to_speak()
        for tag, section in _sections(text):
            held = HeldMarks(section)
            for piece in balanced(_sentences_of(held.text), self._size):
                yield self._piece(replace(piece, text=held.release(piece.text)), tag)

    def _piece(self, piece: Stretch, tag: str) -> TextPiece:
        tokens = self._tokenizer.encode(tag + piece.text)
        return TextPiece(piece.text, tokens, piece.ends_paragraph)

    def _size(self, text: str) -> int:
        return int(self._tokenizer.encode(text).size)


def _closed(sentences: Sequence[Sentence]) -> Iterator[Stretch]:
    """Punctuate sentences, the last one of each paragraph with a full stop."""
    for number, sentence in enumerate(sentences, 1):
        text = plain("".join(map(_written, sentence.spans)))
        is_last = sentence.ends_paragraph or number == len(sentences)
        yield Stretch(closed(text) if is_last else text, sentence.ends_paragraph)


def _written(span: Span) -> str:
    """Write a stretch so that a model reads it as it is to be read."""
    if span.reading is None or span.language != "zh" or span.reading.startswith("/"):
        return span.text
    # Its tables are needed only now.
    from cosykit.synthesis.text.mandarin.homophones import homophones

    return homophones(span.text, span.reading)


def _check_written(pronunciations: Mapping[str, str]) -> None:
    """Refuse readings that cannot be written in letters or characters."""
    for word, reading in pronunciations.items():
        if reading.strip().startswith("/"):
            raise InputError(
                f"the model reads letters, not the phonemes of {quoted(word)}",
                hint="Write pinyin, or other text to speak instead",
                param="pronunciations",
            )


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Cut a text with marks at its language tags, and give each tag with its words.

    What has no words goes with the next section.
    """
    tag = section = ""
    position = 0
    for found in LANGUAGE_TAG.finditer(text):
        section += text[position : found.start()]
        if has_words(section):
            yield tag, section
            section = ""
        position, tag = found.end(), found.group()
    section += text[position:]
    if has_words(section):
        yield tag, section


def _sentences_of(text: str) -> Iterator[Stretch]:
    for line in text.splitlines(keepends=True):
        sentences = list(filter(None, map(str.strip, split_sentences(line))))
        for number, sentence in enumerate(sentences, 1):
            is_last = number == len(sentences)
            yield Stretch(sentence, ends_paragraph=is_last and line != line.rstrip())
