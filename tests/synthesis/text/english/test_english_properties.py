import json
import time
from functools import cache
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosykit.synthesis.text.english.phonemizer import EnglishPhonemizer

SYMBOLS = frozenset(
    json.loads(files("cosykit.engines.lite").joinpath("data/symbols.json").read_text())
)
SOUNDS = frozenset("AIOQWYTbdfhijklmnpstuvwzæðŋɐɑɔəɛɜɡɪɹʃʊʌʒʤʧθᵊᵻ")
LETTERS = st.characters(codec="ascii", categories=["Lu", "Ll"])
TEXTS = st.text() | st.text(st.characters(codec="ascii"))


@cache
def loaded() -> EnglishPhonemizer:
    return EnglishPhonemizer()


@settings(deadline=None)
@given(TEXTS)
def test_any_text_gives_symbols_of_the_model_only(text: str) -> None:
    phonemes = loaded().phonemes(text)
    assert set(phonemes) <= SYMBOLS
    assert phonemes == " ".join(phonemes.split())


@settings(deadline=None)
@given(TEXTS, LETTERS, TEXTS)
def test_any_letter_is_heard(before: str, letter: str, after: str) -> None:
    assert SOUNDS.intersection(loaded().phonemes(before + letter + after))


@settings(deadline=None)
@given(st.text(LETTERS, min_size=1, max_size=30))
def test_any_word_is_heard(word: str) -> None:
    assert SOUNDS.intersection(loaded().phonemes(f"the {word}").partition(" ")[2])


@settings(deadline=None)
@given(st.characters(categories=["L", "Nd"]))
def test_letters_and_digits_of_any_alphabet_are_heard(character: str) -> None:
    assert SOUNDS.intersection(loaded().phonemes(character))


@pytest.mark.parametrize("unit", ["a", "Ab", "ab-", "9", "un", "'s", "A.", "zhang"])
def test_long_words_take_no_longer_than_many_short_ones(unit: str) -> None:
    started = time.perf_counter()
    loaded().phonemes(unit * (4096 // len(unit)))
    assert time.perf_counter() - started < 5
