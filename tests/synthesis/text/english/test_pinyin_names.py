import pytest

from cosykit.synthesis.text.english.pinyin_names import chinese_name


@pytest.mark.parametrize(
    ("word", "phonemes"),
    [
        ("xiaoming", "ʃˌWmˈɪŋ"),
        ("zhang", "ʤˈɑŋ"),
        ("qingdao", "ʧˌɪŋdˈW"),
        ("guoqing", "ɡwˌOʧˈɪŋ"),
        ("shi", "ʃˈɜɹ"),
        ("lüe", ""),
        ("zhongguancun", "ʤˌʊŋɡwɑntsˈʊn"),
    ],
)
def test_pinyin_is_read_by_syllables(word: str, phonemes: str) -> None:
    assert chinese_name(word) == phonemes


@pytest.mark.parametrize(
    "word",
    ["lina", "gemini", "redis", "panorama", "lounge", "quiche", "xylo", "", "zhz", "m"],
)
def test_english_spelling_is_left_alone(word: str) -> None:
    assert chinese_name(word) == ""
