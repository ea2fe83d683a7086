"""Texts to the phonemes that the embedded voice speaks, sentence by sentence."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from cosykit.engines.lite.pieces import PhonemeSentence
from cosykit.seams import TextFrontend
from cosykit.synthesis.text.phonemes import Phonemizer
from cosykit.synthesis.text.recent import RecentTexts
from cosykit.synthesis.text.told import told
from cosykit.types import Language, Sentence

# Takes the tables and the rules of both languages to be read.
_TRIAL_TEXT = "你好 hello"

_Readings = tuple[tuple[str, str], ...]


class Reader:
    """Reads texts aloud on paper; the tables of a language are loaded when first met.

    Any number of threads may share it.
    """

    def __init__(self, frontend: TextFrontend) -> None:
        self._normalized = RecentTexts(partial(_normalized, frontend))
        self._phonemizer = Phonemizer()

    def normalized(
        self,
        text: str,
        language: Language | None,
        pronunciations: Mapping[str, str] = MappingProxyType({}),
    ) -> Sequence[Sentence]:
        """Give what is left of a text once it is normalised; see `sentences`."""
        readings = tuple(sorted(pronunciations.items()))
        return self._normalized.get(text, (language, readings))

    def sentences(
        self,
        text: str,
        language: Language | None,
        pronunciations: Mapping[str, str] = MappingProxyType({}),
    ) -> Iterator[PhonemeSentence]:
        """Check the text at once, then phonemise sentence by sentence as needed.

        Args:
            pronunciations: Readings of words that come before those of the front end.

        Raises:
            InputError: The text cannot be spoken, or a reading not be used.
        """
        sentences = self.normalized(text, language, pronunciations)
        self._phonemizer.check(sentences)
        spoken = (
            PhonemeSentence(
                self._phonemizer.phonemes(sentence),
                sentence.text,
                sentence.ends_paragraph,
            )
            for sentence in sentences
        )
        return (sentence for sentence in spoken if sentence.phonemes)

    def load_tables(self) -> None:
        """Load what Mandarin and English need ahead of the first request.

        Raises:
            Exception: Whatever a plug-in of a front end makes of a text it never saw.
        """
        list(self.sentences(_TRIAL_TEXT, None))


def _normalized(
    frontend: TextFrontend, text: str, manner: tuple[Language | None, _Readings]
) -> Sequence[Sentence]:
    language, readings = manner
    return told(frontend, dict(readings)).sentences(text, language)
