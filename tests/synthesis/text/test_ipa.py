"""IPA becomes symbols that the embedded model knows, or is refused."""

import pytest

from cosykit.engines.lite.symbols import symbol_ids
from cosykit.errors import InputError
from cosykit.synthesis.text.ipa import SYMBOLS, parse_ipa


def test_model_knows_all_symbols() -> None:
    assert set(symbol_ids()) >= SYMBOLS


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("kˈOzi kˈɪt", "kˈOzi kˈɪt"),
        ("ˈgəʊ.pher", "ˈɡəʊpher"),
        ("'ka:", "ˈkaː"),
        ("t͡ʃɛk", "tʃɛk"),
        ("bɔ̃ʒuʁ", "bɔ̃ʒuʁ"),
        ("façade", "façade"),
        ("lɪtl̩", "lɪtl"),
    ],
)
def test_spellings_of_people_are_understood(written: str, known: str) -> None:
    assert parse_ipa(written) == known


@pytest.mark.parametrize("written", ["", " ", "ˈ…", "ka9", "кит", "重", "a/b"])
def test_what_is_no_sound_is_refused(written: str) -> None:
    with pytest.raises(InputError, match="is not IPA"):
        parse_ipa(written)
