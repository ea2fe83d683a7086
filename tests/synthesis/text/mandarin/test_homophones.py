"""Words written so that they are read as their pinyin says."""

import pytest

from cosykit.synthesis.text.mandarin.homophones import homophones
from cosykit.synthesis.text.mandarin.phonemizer import MandarinPhonemizer


@pytest.mark.parametrize(
    ("word", "pinyin"),
    [
        ("重庆", "zhong4 qing4"),
        ("银行", "yin2 xing2"),
        ("长大", "chang2 da4"),
        ("草地", "cao3 di4"),
        ("单", "shan4"),
        ("绿", "lü4"),
    ],
)
def test_word_is_read_as_its_pinyin_says(word: str, pinyin: str) -> None:
    written = homophones(word, pinyin)
    assert len(written) == len(word)
    read = [MandarinPhonemizer().pinyin(character)[0] for character in written]
    assert " ".join(read) == pinyin


def test_character_that_is_always_read_so_stays() -> None:
    assert homophones("草地", "cao3 di4")[0] == "草"


@pytest.mark.parametrize(
    ("word", "pinyin"), [("花儿", "huar1"), ("B超", "bi4 chao1"), ("了", "liao3")]
)
def test_what_cannot_be_written_otherwise_stays(word: str, pinyin: str) -> None:
    assert homophones(word, pinyin) == word
