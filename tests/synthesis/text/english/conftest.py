import pytest

from cosykit.synthesis.text.english.phonemizer import EnglishPhonemizer


@pytest.fixture(scope="session")
def phonemizer() -> EnglishPhonemizer:
    return EnglishPhonemizer()
