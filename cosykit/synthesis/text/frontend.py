"""The standard text front end: what a user wrote, to sentences ready to be spoken.

    text ─▶ clean ─▶ user's readings ─▶ zones ─▶ normalise ─▶ sentences ─▶ spans

A zone is a stretch whose numbers are read in one language; a span is a stretch whose
letters are. The user's readings pass through as held characters, see `pronunciations`.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from types import MappingProxyType

from cosykit.config.schema import TextSettings
from cosykit.errors import ConfigError, InputError, NothingToSpeakError
from cosykit.spec import hint_of_able
from cosykit.synthesis.text.clean import clean
from cosykit.synthesis.text.language import main_language_of_clean, spans, zones
from cosykit.synthesis.text.pronunciations import Pronunciations
from cosykit.synthesis.text.scripts import (
    foreign_script,
    has_letters,
    is_speakable,
    romanize,
)
from cosykit.synthesis.text.sentences import join_silent, split_sentences
from cosykit.types import Language, Sentence

_LANGUAGE_NAMES: Mapping[Language, str] = MappingProxyType(
    {
        "zh": "Mandarin",
        "en": "English",
        "ja": "Japanese",
        "yue": "Cantonese",
        "ko": "Korean",
    }
)


class StandardFrontend:
    """Cleans, normalises and splits Mandarin, English, Japanese and mixed text.

    It keeps no state between texts, so any number of threads may use one.

    Args:
        normalize: Whether to write out numbers, dates, units and signs.
        pronunciations: The user's own readings, word to reading.

    Raises:
        ConfigError: A pronunciation cannot be used.
    """

    def __init__(
        self,
        *,
        normalize: bool = True,
        pronunciations: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._normalizes = normalize
        self._pronunciations = Pronunciations(pronunciations)

    def with_pronunciations(self, readings: Mapping[str, str]) -> "StandardFrontend":
        """Give a front end that knows more readings, which come before its own.

        Raises:
            InputError: One of them cannot be used.
        """
        knowing = copy(self)
        try:
            knowing._pronunciations = Pronunciations(readings, self._pronunciations)
        except ConfigError as error:
            raise InputError(
                error.message.removeprefix("text."),
                hint=error.hint,
                param="pronunciations",
            ) from error
        return knowing

    def sentences(self, text: str, language: Language | None) -> Sequence[Sentence]:
        """Turn raw text into sentences that lose and repeat nothing.

        Raises:
            InputError: Nothing in the text can be spoken.
        """
        held = self._pronunciations.hold(clean(text))
        _check_speakable(text, held, language)
        main = language or main_language_of_clean(held)
        sentences = [
            sentence
            for line in join_silent(romanize(held).splitlines(keepends=True))
            for sentence in self._paragraph(line, main)
        ]
        if not sentences:
            raise nothing_to_speak()
        return sentences

    def _paragraph(self, line: str, main: Language) -> list[Sentence]:
        text = line.replace("\n", " ").strip()
        if self._normalizes:
            text = "".join(_written_out(*zone) for zone in zones(text, main))
        pieces = [
            piece.strip() for piece in split_sentences(text) if is_speakable(piece)
        ]
        return [
            Sentence(
                tuple(map(self._pronunciations.release, spans(piece, main))),
                ends_paragraph=line.endswith("\n") and number == len(pieces),
            )
            for number, piece in enumerate(pieces, 1)
        ]


def _written_out(text: str, language: Language) -> str:
    if language == "en":
        from cosykit.synthesis.text.normalize.english import normalize_english

        return normalize_english(text)
    if language == "ja":
        from cosykit.synthesis.text.normalize.japanese import normalize_japanese

        return normalize_japanese(text)
    from cosykit.synthesis.text.normalize.mandarin import normalize_mandarin

    return normalize_mandarin(text)


def _check_speakable(raw: str, plain: str, language: Language | None) -> None:
    if language == "ko":
        raise unspoken(language, param="language")
    if not raw.strip():
        raise NothingToSpeakError(
            "the text is empty", hint="Write at least one word", param="text"
        )
    script = None if has_letters(plain) else foreign_script(plain)
    if script == "Hangul":
        raise unspoken("ko", param="text")
    if script:
        raise InputError(
            f"text in the {script} script cannot be spoken",
            hint="Write Chinese, English or Japanese",
            param="text",
        )
    if not is_speakable(plain):
        raise nothing_to_speak()


def unspoken(language: Language, param: str) -> InputError:
    """Say that a model lacks a language, and which model of the catalogue has it."""
    return InputError(
        f"the model does not speak {_LANGUAGE_NAMES[language]}",
        hint=hint_of_able(lambda spec: language in spec.languages),
        param=param,
    )


def nothing_to_speak() -> NothingToSpeakError:
    """Say that a text has no words."""
    return NothingToSpeakError(
        "the text has nothing to speak, only punctuation, emoji or markup",
        hint="Write at least one word or number",
        param="text",
    )


def open_frontend(settings: TextSettings) -> StandardFrontend:
    """Open the front end; the entry point `standard` of `cosykit.text_frontends`.

    Raises:
        ConfigError: A pronunciation cannot be used.
    """
    return StandardFrontend(
        normalize=settings.normalize, pronunciations=settings.pronunciations
    )
