import unicodedata
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosykit.errors import InputError
from cosykit.synthesis.text.mandarin.phonemizer import MandarinPhonemizer
from tests.synthesis.text.mandarin.table import TABLE

COMMON = "一不了着地得长行重还儿子的，。我你好去看个第十这是很为什么都"
HANZI = st.characters(min_codepoint=0x3400, max_codepoint=0x323AF).filter(
    lambda char: unicodedata.name(char, "").startswith("CJK UNIFIED")
)
CHINESE = st.text(st.sampled_from(COMMON) | HANZI, min_size=1)


@cache
def loaded() -> MandarinPhonemizer:
    return MandarinPhonemizer()


@settings(deadline=None)  # the first call loads
@given(st.text() | CHINESE)
def test_any_text_gives_symbols_of_the_table_only(text: str) -> None:
    written = loaded().phonemes(text)
    assert set(written) <= TABLE
    assert written == " ".join(written.split())


@settings(deadline=None)  # the first call loads
@given(st.text(), HANZI, st.text())
def test_a_hanzi_is_never_silent(before: str, hanzi: str, after: str) -> None:
    with_hanzi = loaded().phonemes(f"{before}。{hanzi}。{after}")
    without = loaded().phonemes(f"{before}。。{after}")
    assert len(with_hanzi) > len(without)


@settings(deadline=None)  # the first call loads
@given(CHINESE)
def test_every_hanzi_gives_a_syllable_unless_er_melts(text: str) -> None:
    hanzi = sum(char not in "，。" for char in text)
    assert hanzi - text.count("儿") <= len(loaded().pinyin(text)) <= hanzi


@settings(deadline=None)  # the first call loads
@given(st.text())
def test_a_reading_is_spoken_or_refused(text: str) -> None:
    try:
        written = loaded().reading(text)
    except InputError as error:
        assert error.hint
    else:
        assert written
        assert set(written) <= TABLE


def test_words_are_spaced_and_marks_are_the_models() -> None:
    assert loaded().phonemes("你好，世界！") == "ni↗xau↓, ʂɨ↘ʨje↘!"
    assert loaded().phonemes("他说：“我们走吧……”") == "tʰa→ ʂwo→: “wo↓mən ʦou↓ pa… ”"


def test_parts_of_one_word_are_not_spaced() -> None:
    assert loaded().phonemes("图书馆").count(" ") == 0


@pytest.mark.parametrize("text", ["A", "z", "7", "é", "٣", "Ω", "の", "한", "𠮷", "Ａ"])
def test_stray_letters_and_digits_are_heard(text: str) -> None:
    assert loaded().phonemes(text)


def test_digits_are_read_as_numerals() -> None:
    assert loaded().pinyin("3只猫") == ["san1", "zhi1", "mao1"]


def test_iteration_mark_repeats() -> None:
    assert loaded().pinyin("人々") == ["ren2", "ren2"]


def test_unreadable_hanzi_is_so_and_so() -> None:
    assert loaded().pinyin("\U0003134b") == ["mou3"]


@pytest.mark.parametrize("text", ["", " ", "。", "☺", "\n"])
def test_nothing_to_say_gives_no_syllable(text: str) -> None:
    assert loaded().pinyin(text) == []


def test_traditional_text_is_read_like_simplified() -> None:
    traditional = loaded().phonemes("銀行行長說還沒還錢，頭髮長長了。")
    assert traditional == loaded().phonemes("银行行长说还没还钱，头发长长了。")


def test_reading_is_spoken_as_it_is_given() -> None:
    assert loaded().reading("zhong4 qing4") == "ꭧʊ↘ŋʨʰi↘ŋ"
    assert loaded().reading("nǐ hǎo") == "ni↓xau↓"


def test_threads_get_the_same_answers() -> None:
    texts = [f"第{place}个人还没还钱，得了就得走。" for place in "一二三四五六七八"]
    alone = [loaded().phonemes(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(loaded().phonemes, texts)) == alone
