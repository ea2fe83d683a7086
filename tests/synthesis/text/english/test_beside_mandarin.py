import pytest

from cosykit.synthesis.text.english.beside_mandarin import beside_mandarin


@pytest.mark.parametrize(
    ("phonemes", "breathed"),
    [
        ("pˈɑɹTi", "pʰˈɑɹtʰi"),
        ("lˈæptˌɑp", "lˈæpʰtʰˌɑpʰ"),
        ("stˈɑp", "stˈɑpʰ"),
        ("kˈɔfi", "kʰˈɔfi"),
        ("ɡˈuɡᵊl", "ɡˈuɡᵊl"),
    ],
)
def test_stops_get_a_breath_except_after_s(phonemes: str, breathed: str) -> None:
    assert beside_mandarin(phonemes) == breathed
