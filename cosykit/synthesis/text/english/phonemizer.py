"""English text to phonemes.

text ─▶ tokens ─▶ parts of speech, senses, weak forms ─▶ words ─▶ phonemes
        tokens    part_of_speech, senses, weak_forms     pronouncer
"""

from collections.abc import Sequence

from cosykit.synthesis.text.english.letter_to_sound import load_letter_to_sound
from cosykit.synthesis.text.english.lexicon import load_lexicon
from cosykit.synthesis.text.english.part_of_speech import part_of_speech
from cosykit.synthesis.text.english.pronouncer import Pronouncer
from cosykit.synthesis.text.english.senses import sense
from cosykit.synthesis.text.english.stress import starts_with_vowel
from cosykit.synthesis.text.english.tokens import tokenize
from cosykit.synthesis.text.english.weak_forms import weak_form

_PAUSES = frozenset(";:,.!?—…")
_SHORTEST_SHOUT = 3
"""In spaces; the names of a few acronyms are shorter."""


class EnglishPhonemizer:
    """Writes American English in the symbols that the embedded model was trained on.

    Opening it reads the dictionaries (0.1 s, 7 MB). Threads may share one.
    """

    def __init__(self) -> None:
        self._pronouncer = Pronouncer(load_lexicon(), load_letter_to_sound())

    def phonemes(self, text: str) -> str:
        """Write a text in phonemes; spaces and punctuation stay where they are.

        Any text has an answer: other alphabets are spelt, unknown words guessed.
        """
        # A shouted sentence is no row of acronyms.
        shouted = text.isupper() and text.count(" ") >= _SHORTEST_SHOUT
        tokens = tokenize(text.lower() if shouted else text)
        words = [token.text.lower() for token in tokens if token.kind != "space"]
        sounds: list[str] = []
        place, vowel = len(words), None
        # From the end, because small words sound by what follows them.
        for token in reversed(tokens):
            if token.kind != "space":
                place -= 1
            if token.kind == "word":
                sounds.append(self._word(token.text, words, place, vowel))
                vowel = starts_with_vowel(sounds[-1])
            else:
                sounds.append(token.text)
                if token.text in _PAUSES:
                    vowel = None
        return " ".join("".join(reversed(sounds)).split())

    def _word(
        self, word: str, words: Sequence[str], place: int, vowel: bool | None
    ) -> str:
        return (
            weak_form(word, words, place, vowel)
            or sense(words, place)
            or self._pronouncer.phonemes(
                word, part_of_speech(words, place), pause=vowel is None
            )
        )
