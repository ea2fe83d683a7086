"""Sentences of several languages become one string of phonemes."""

import pytest

from cosykit.engines.lite.symbols import symbol_ids
from cosykit.errors import InputError
from cosykit.synthesis.text.phonemes import ENGLISH_WORD, Phonemizer
from cosykit.types import Sentence, Span


@pytest.fixture(scope="module")
def phonemizer() -> Phonemizer:
    return Phonemizer()


def test_each_span_is_read_in_its_language(phonemizer: Phonemizer) -> None:
    spans = (Span("请打开 ", "zh"), Span("Windows", "en"), Span("。", "zh"))
    phonemes = phonemizer.phonemes(Sentence(spans))
    assert phonemes.endswith(" ‹wˈɪndOz.")
    assert phonemes.startswith("ʨʰ")


def test_readings_of_the_user_win(phonemizer: Phonemizer) -> None:
    usual = phonemizer.phonemes(Sentence((Span("重庆", "zh"),)))
    own = phonemizer.phonemes(Sentence((Span("重庆", "zh", "zhong4 qing4"),)))
    ipa = phonemizer.phonemes(Sentence((Span("CosyKit", "en", "/kˈOzikɪt/"),)))
    assert usual != own
    assert ipa == "kˈOzikɪt"


def test_reading_that_is_none_is_refused(phonemizer: Phonemizer) -> None:
    with pytest.raises(InputError, match="pinyin"):
        phonemizer.phonemes(Sentence((Span("重庆", "zh", "xyz9"),)))


def test_language_without_phonemes_is_refused(phonemizer: Phonemizer) -> None:
    with pytest.raises(InputError, match="does not speak Korean"):
        phonemizer.phonemes(Sentence((Span("안녕", "ko"),)))


def test_text_of_which_a_part_cannot_be_spoken_is_refused(
    phonemizer: Phonemizer,
) -> None:
    spoken = Sentence((Span("Hello.", "en"),))
    cantonese = Sentence((Span("呢度好靓。", "yue"),))
    told = Sentence((Span("靓", "yue", "liang4"),))
    phonemizer.check([spoken, told])
    with pytest.raises(InputError, match="does not speak Cantonese") as caught:
        phonemizer.check([spoken, cantonese])
    assert "cosykit install cosyvoice-300m-sft" in caught.value.hint


def test_all_symbols_are_the_models(phonemizer: Phonemizer) -> None:
    spans = (
        Span("他说：“你好！”（真的）——", "zh"),
        Span("Hello, world; it's fine…", "en"),
    )
    phonemes = phonemizer.phonemes(Sentence(spans))
    assert set(phonemes) <= {*symbol_ids(), ENGLISH_WORD}


def test_english_words_are_marked_beside_chinese_only(phonemizer: Phonemizer) -> None:
    english = Span("yes, I do", "en")
    own = Span("CosyKit", "en", "/kˈOzikɪt/")
    chinese = Span("他说", "zh")
    assert phonemizer.phonemes(Sentence((chinese, english))).count(ENGLISH_WORD) == 3
    assert phonemizer.phonemes(Sentence((chinese, own))).endswith(" ‹kˈOzikɪt")
    assert ENGLISH_WORD not in phonemizer.phonemes(Sentence((english, own)))
    assert ENGLISH_WORD not in phonemizer.phonemes(Sentence((chinese,)))
