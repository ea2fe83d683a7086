"""How the smallest words sound in a sentence.

They depend on what follows: a vowel, a consonant, or a pause. Source: misaki en.py
Lexicon.get_special_case (hexgrad/misaki, Apache-2.0).
"""

from collections.abc import Sequence

from cosykit.synthesis.text.english.function_words import (
    ARTICLES,
    BE,
    OBJECTS,
    SUBJECTS,
    word_set,
)

_SENTENCE_ENDS = frozenset(".!?…“”")
_AFTER_PRONOUN = word_set("is was one way means would will")


def weak_form(
    word: str, words: Sequence[str], place: int, vowel: bool | None = None
) -> str:
    """Find the sound of a word that has several by its place; else nothing.

    Args:
        word: As it is written.
        words: Its sentence in small letters, with the punctuation marks.
        place: Which word of the sentence it is.
        vowel: Whether a vowel sound follows at once; None before a pause.
    """
    starts = place == 0 or words[place - 1] in _SENTENCE_ENDS
    after = words[place + 1] if place + 1 < len(words) else ""
    match words[place]:
        case "a" if word == "a" or (starts and vowel is not None):
            return "ˈA" if vowel is None else "ɐ"
        case "an":
            return "ɐn"
        case "am" if vowel is not None and word != "AM":
            return "ɐm"
        case "i" if word == "I":
            return "ˌI"
        case "in":
            return "ˈɪn" if vowel is None else "ɪn"
        case "that" if starts or vowel is None or after in _AFTER_PRONOUN:
            return "ðˈæt"
        case "the":
            return "ði" if vowel else "ðə"
        case "to":
            return "tu" if vowel is None else "tʊ" if vowel else "tə"
        case "used" if after == "to":
            return "jˈuzd" if _is_employed(words, place) else "jˈust"
    return ""


def _is_employed(words: Sequence[str], place: int) -> bool:
    """Tell `is used to cut` from `is used to it` and `used to cut`."""
    object_ = words[place + 2] if place + 2 < len(words) else ""
    is_noun = object_ in ARTICLES | OBJECTS | SUBJECTS or object_.endswith("ing")
    return place > 0 and words[place - 1] in BE and not is_noun
