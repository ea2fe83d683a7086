from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosykit.synthesis.text.english.letter_to_sound import (
    LetterToSound,
    load_letter_to_sound,
)
from cosykit.synthesis.text.english.stress import PRIMARY


@cache
def loaded() -> LetterToSound:
    return load_letter_to_sound()


@pytest.mark.parametrize(
    ("word", "phonemes"),
    [
        ("plinter", "plˈɪntəɹ"),
        ("gratation", "ɡɹətˈAʃən"),
        ("shroop", "ʃɹˈup"),
        ("knorb", "nˈɔɹb"),
        ("phlox", "flˈɑks"),
        ("blorptastic", "blˌɔɹptˈæstɪk"),
        ("quibbage", "kwˈɪbɪʤ"),
    ],
)
def test_invented_words_follow_english_spelling(word: str, phonemes: str) -> None:
    assert loaded().phonemes(word) == phonemes


@given(st.text("abcdefghijklmnopqrstuvwxyz", max_size=20))
def test_no_word_has_two_primary_stresses(word: str) -> None:
    assert loaded().phonemes(word).count(PRIMARY) <= 1


def test_other_characters_are_skipped() -> None:
    assert loaded().phonemes("plin-ter!é") == loaded().phonemes("plinter")
    assert loaded().phonemes("") == ""
