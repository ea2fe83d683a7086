import pytest

from cosykit.synthesis.text.mandarin.phonemizer import MandarinPhonemizer


@pytest.fixture(scope="session")
def phonemizer() -> MandarinPhonemizer:
    return MandarinPhonemizer()
