"""Chinese text to the symbols of the embedded model."""

import re
import unicodedata
from collections.abc import Iterator

from cosykit.synthesis.text.mandarin.erhua import melt_er
from cosykit.synthesis.text.mandarin.ipa import symbols
from cosykit.synthesis.text.mandarin.lexicon import UNREADABLE, Lexicon
from cosykit.synthesis.text.mandarin.marks import DIGITS, MARKS, spell
from cosykit.synthesis.text.mandarin.pinyin import parse_reading
from cosykit.synthesis.text.mandarin.polyphones import Polyphones
from cosykit.synthesis.text.mandarin.segment import Segmenter
from cosykit.synthesis.text.mandarin.third_tone import change_third_tones
from cosykit.synthesis.text.mandarin.words import Word
from cosykit.synthesis.text.mandarin.yi_bu import change_yi_and_bu

_HANZI = "\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003347f"
_HANZI_OR_LETTERS = re.compile(f"[{_HANZI}]+|[a-zA-Z]+")
_CLAUSE_OR_MARK = re.compile(f"(?P<clause>[{_HANZI}a-zA-Z]+)|(?P<mark>.)", re.DOTALL)


class MandarinPhonemizer:
    """Reads Chinese aloud on paper: words, readings, tones, symbols.

    Loading takes 0.2 s and 47 MB; afterwards any thread may use it.
    """

    def __init__(self) -> None:
        self._lexicon = Lexicon()
        self._segmenter = Segmenter(self._lexicon)
        self._polyphones = Polyphones(self._lexicon)

    def phonemes(self, text: str) -> str:
        """Write normalised Chinese in the model's symbols.

        Every hanzi, letter and digit is heard; marks outside the model's table are
        gaps between words.
        """
        written = ""
        for piece in self._pieces(text):
            written += piece if isinstance(piece, str) else _write(piece)
        return re.sub(" +(?= )|(?<=[“(]) +", "", written).strip()

    def pinyin(self, text: str) -> list[str]:
        """Return the syllables of a text as they are spoken, such as `dianr3`."""
        return [
            str(syllable)
            for piece in self._pieces(text)
            if not isinstance(piece, str)
            for word in piece
            for syllable in word.syllables
        ]

    def reading(self, pinyin: str) -> str:
        """Write a user's own reading of a word in the model's symbols.

        Raises:
            InputError: The reading is not pinyin.
        """
        return "".join(map(symbols, parse_reading(pinyin)))

    def _pieces(self, text: str) -> Iterator[list[Word] | str]:
        """Yield clauses and the marks between them, in order."""
        for match in _CLAUSE_OR_MARK.finditer(_plain(text)):
            clause = match["clause"]
            yield self._speak(clause) if clause else MARKS.get(match["mark"], " ")

    def _speak(self, clause: str) -> list[Word]:
        words: list[Word] = []
        for run in _HANZI_OR_LETTERS.findall(clause):
            if run.isascii():
                words.append(Word(run, symbols=spell(run)))
            else:
                words += self._segmenter.words(self._lexicon.simplified(run))
        read = self._polyphones.read(words)
        return change_third_tones(melt_er(change_yi_and_bu(read)))


def _plain(text: str) -> str:
    """Reduce a text to hanzi, Latin letters and marks."""
    composed = unicodedata.normalize("NFKC", text)
    dotted = re.sub(r"\.{2,}", "…", composed)
    repeated = re.sub(r"(.)々", r"\1\1", dotted)
    return "".join(map(_plain_character, repeated))


def _plain_character(char: str) -> str:
    if char.isascii() or char in MARKS or _HANZI_OR_LETTERS.match(char):
        return char.translate(DIGITS)
    digit = unicodedata.digit(char, None)
    if digit is not None:
        return str(digit).translate(DIGITS)
    if not char.isalnum():
        return " "
    letter = unicodedata.normalize("NFD", char)[0]
    return letter if letter.isascii() else UNREADABLE


def _write(clause: list[Word]) -> str:
    written = ""
    for word in clause:
        written += "" if word.attached else " "
        written += word.symbols or "".join(map(symbols, word.syllables))
    return written
