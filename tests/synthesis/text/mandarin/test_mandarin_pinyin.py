import pytest

from cosykit.errors import InputError
from cosykit.synthesis.text.mandarin.pinyin import parse_reading


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("zhong4 qing4", "zhong4 qing4"),
        ("zhong4qing4", "zhong4 qing4"),
        ("chóng qìng", "chong2 qing4"),
        ("Chóngqìng", "chong2 qing4"),
        ("CHONG2-QING4", "chong2 qing4"),
        ("nu:e4", "nüe4"),
        ("nve4", "nüe4"),
        ("lüe4", "lüe4"),
        ("lǜ", "lü4"),
        ("qü4", "qu4"),
        ("ma5", "ma5"),
        ("ma0", "ma5"),
        ("ma", "ma5"),
        ("xī'ān", "xi1 an1"),
        ("xiān", "xian1"),
        ("fāng'àn", "fang1 an4"),
        ("fāngàn", "fan1 gan4"),
        ("huar1", "huar1"),
        ("huār", "huar1"),
        ("er2 zi5", "er2 zi5"),
        ("nǚ'ér", "nü3 er2"),
        ("xiǎoháir", "xiao3 hair2"),
        ("ń", "n2"),
        ("m̄", "m1"),
        ("ḿ", "m2"),
        ("ê̄", "ê1"),
    ],
)
def test_pinyin_is_read_however_it_is_written(written: str, read: str) -> None:
    assert " ".join(map(str, parse_reading(written))) == read


@pytest.mark.parametrize(
    "written",
    ["", " ", "女", "hello", "zhong6", "zhong44", "zh4", "4", "qìngg", "chòng2", "a/b"],
)
def test_what_is_not_pinyin_is_refused_with_a_hint(written: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_reading(written)
    assert "chong2 qing4" in caught.value.hint
