import pytest

from cosykit.synthesis.text.mandarin.ipa import symbols
from cosykit.synthesis.text.mandarin.pinyin import SYLLABLES, Syllable, syllable
from tests.synthesis.text.mandarin.table import TABLE


@pytest.mark.parametrize(
    ("pinyin", "written"),
    [
        ("ni3", "ni↓"),
        ("hao3", "xau↓"),
        ("zhong1", "ꭧʊ→ŋ"),
        ("chi2", "ꭧʰɨ↗"),
        ("si4", "sɨ↘"),
        ("qu4", "ʨʰy↘"),
        ("xuan1", "ɕɥɛ→n"),
        ("lü4", "ly↘"),
        ("lu4", "lu↘"),
        ("wo3", "wo↓"),
        ("wen2", "wə↗n"),
        ("liu2", "ljou↗"),
        ("shui3", "ʂwei↓"),
        ("yue4", "ɥe↘"),
        ("yi1", "i→"),
        ("er2", "ɚ↗"),
        ("de5", "tɤ"),
    ],
)
def test_syllable_is_written_as_the_model_learnt_it(pinyin: str, written: str) -> None:
    assert symbols(syllable(pinyin)) == written


def test_every_syllable_has_symbols_of_its_own_in_the_table() -> None:
    written = {base: symbols(Syllable(base, 1)) for base in SYLLABLES}
    assert set("".join(written.values())) <= TABLE
    del written["lo"]  # the interjection sounds like luo
    assert len(set(written.values())) == len(written)


def test_tones_and_er_are_heard() -> None:
    spoken = [symbols(Syllable("hua", tone)) for tone in range(1, 6)]
    assert len(set(spoken)) == 5
    assert symbols(Syllable("hua", 1, rhotic=True)) not in spoken
