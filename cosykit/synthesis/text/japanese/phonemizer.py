"""The Japanese phonemiser: normalised text to the symbols of the embedded voice."""

import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace

from cosykit.synthesis.text.japanese.homographs import Homographs
from cosykit.synthesis.text.japanese.kana import word_phonemes
from cosykit.synthesis.text.japanese.lattice import Word, split_words
from cosykit.synthesis.text.japanese.letters import spell_letters
from cosykit.synthesis.text.japanese.lexicon import Lexicon
from cosykit.synthesis.text.japanese.numerals import read_numerals
from cosykit.synthesis.text.japanese.phrases import phrases

_PUNCTUATION = {
    **dict.fromkeys("。．.", "."),
    **dict.fromkeys("、，,", ","),
    **dict.fromkeys("！!", "!"),
    **dict.fromkeys("？?", "?"),
    **dict.fromkeys("：:", ":"),
    **dict.fromkeys("；;", ";"),
    **dict.fromkeys("—―", "—"),
    **dict.fromkeys("“「『«《〈", "“"),
    **dict.fromkeys("”」』»》〉", "”"),
    **dict.fromkeys("（(【", "("),
    **dict.fromkeys("）)】", ")"),
    "…": "…",
}
_BEFORE_CLOSING = re.compile(r" +(?=[.,!?:;…”)])")
_AFTER_OPENING = re.compile(r"(?<=[“(]) +")


class JapanesePhonemizer:
    """Reads Japanese aloud on paper.

    The dictionary is loaded with the first text. Any number of threads may use one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: tuple[Lexicon, Homographs] | None = None

    def phonemes(self, text: str) -> str:
        """Write normalised text in phonemes; what cannot be spoken is passed over."""
        spoken = (
            word_phonemes(phrase) or _PUNCTUATION.get(phrase, "")
            for phrase in phrases(self.words(text))
        )
        line = " ".join(filter(None, spoken))
        return _AFTER_OPENING.sub("", _BEFORE_CLOSING.sub("", line))

    def words(self, text: str) -> list[Word]:
        """Cut a text into words, each with its pronunciation in katakana."""
        lexicon, homographs = self._load()
        written = spell_letters(text)
        words = read_numerals(_repeated(split_words(written, lexicon)))
        return homographs.choose(words, written)

    def _load(self) -> tuple[Lexicon, Homographs]:
        with self._lock:
            if self._loaded is None:
                self._loaded = Lexicon(), Homographs()
            return self._loaded


def _repeated(words: Iterable[Word]) -> Iterator[Word]:
    """Read 々, where the dictionary does not know the word, as the word before it."""
    before = ""
    for word in words:
        if word.surface == "々":
            word = replace(word, pronunciation=before)
        before = word.pronunciation
        yield word
