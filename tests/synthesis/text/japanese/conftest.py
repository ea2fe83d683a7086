import pytest

from cosykit.synthesis.text.japanese.phonemizer import JapanesePhonemizer


@pytest.fixture(scope="session")
def phonemizer() -> JapanesePhonemizer:
    return JapanesePhonemizer()
