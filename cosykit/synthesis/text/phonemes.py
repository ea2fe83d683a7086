"""Sentences to phonemes, each span by the phonemiser of its language."""

import re
import threading
from collections.abc import Iterable
from typing import Protocol

from cosykit.spec import LITE
from cosykit.synthesis.text.frontend import unspoken
from cosykit.types import Language, Sentence, Span

ENGLISH_WORD = "‹"
"""Stands before every English word of a sentence that has Chinese in it."""

_WORD = re.compile(r"(?<!\S)(?=[^\W\d]|[ˈˌ])")
_SPACE_BEFORE_MARK = re.compile(r" +(?=[,.;:!?…])")


class _LanguagePhonemizer(Protocol):
    def phonemes(self, text: str) -> str: ...


class Phonemizer:
    """Reads sentences aloud on paper; languages are loaded when first met."""

    def __init__(self) -> None:
        self._loaded: dict[Language, _LanguagePhonemizer] = {}
        self._lock = threading.Lock()

    def check(self, sentences: Iterable[Sentence]) -> None:
        """Refuse a text for any part of it, before a part is spoken.

        Raises:
            InputError: It is in a language that the embedded model does not speak.
        """
        for sentence in sentences:
            for span in sentence.spans:
                if span.reading is None and span.language not in LITE.languages:
                    raise unspoken(span.language, param="language")

    def phonemes(self, sentence: Sentence) -> str:
        """Write a sentence in the phonemes of the embedded model.

        Raises:
            InputError: A user's reading is no reading, or the language's dictionary
                is not installed.
        """
        beside = any(span.language == "zh" for span in sentence.spans)
        parts = [self._span(span, beside).strip() for span in sentence.spans]
        joined = " ".join(part for part in parts if part)
        return _SPACE_BEFORE_MARK.sub("", joined)

    def load(self, language: Language) -> None:
        """Load a language ahead of its first use."""
        self._for(language)

    def _span(self, span: Span, beside_zh: bool) -> str:
        if span.reading is None:
            phonemes = self._for(span.language).phonemes(span.text)
        elif span.reading.startswith("/"):
            phonemes = span.reading.strip("/")
        else:
            return self._pinyin(span.reading)
        if beside_zh and span.language == "en":
            return _WORD.sub(ENGLISH_WORD, phonemes)
        return phonemes

    def _pinyin(self, reading: str) -> str:
        from cosykit.synthesis.text.mandarin.phonemizer import MandarinPhonemizer

        mandarin = self._for("zh")
        assert isinstance(mandarin, MandarinPhonemizer)
        return mandarin.reading(reading)

    def _for(self, language: Language) -> _LanguagePhonemizer:
        with self._lock:
            if language not in self._loaded:
                self._loaded[language] = _open(language)
            return self._loaded[language]


def _open(language: Language) -> _LanguagePhonemizer:
    if language == "zh":
        from cosykit.synthesis.text.mandarin.phonemizer import MandarinPhonemizer

        return MandarinPhonemizer()
    if language == "en":
        from cosykit.synthesis.text.english.phonemizer import EnglishPhonemizer

        return EnglishPhonemizer()
    if language == "ja":
        from cosykit.synthesis.text.japanese.phonemizer import JapanesePhonemizer

        return JapanesePhonemizer()
    raise unspoken(language, param="language")
