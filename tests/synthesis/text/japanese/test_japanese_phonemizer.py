"""Japanese text becomes the symbols that the embedded voice was trained on."""

from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosykit.engines.lite.symbols import symbol_ids
from cosykit.synthesis.text.japanese.phonemizer import JapanesePhonemizer

KANA = st.text(st.characters(min_codepoint=0x3041, max_codepoint=0x3096), min_size=1)


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("ありがとう", "aɾʲiɡatoː"),
        ("今日は良い天気ですね。", "kʲoː βa joi teŋkʲi desɨ ne."),
        ("東京へ行って、本を読む。", "toːkʲoː e iʔte, hoɴ o jomɯ."),
        ("食べさせられました！", "tabesaseɾaɾemaɕita!"),
        ("行きましょう", "ikʲimaɕoː"),
        ("新聞、銀行、本当、案内、三年", "ɕimbɯɴ, ɡʲiŋkoː, hontoː, annai, sanneɴ"),
        ("ヴィヴィとファックス", "vʲivʲi to ɸaʔkɯsɨ"),
        ("「はい」と言った。", "“hai” to iʔta."),
        ("本当（たぶん）ですか？", "hontoː (tabɯɴ) desɨ ka?"),
        ("ジョン・スミス", "ʥoɴ sɨmʲisɨ"),
        ("あっ…", "aʔ…"),
        ("お手紙", "otegamʲi".replace("g", "ɡ")),
        ("パーティーのチェック", "paːtʲiː no ʨeʔkɯ"),
        ("ニセン ニジュー ヨネン", "ɲiseɴ ɲiʥɨː joneɴ"),
    ],
)
def test_text_is_spelt_in_the_models_symbols(
    phonemizer: JapanesePhonemizer, text: str, phonemes: str
) -> None:
    assert phonemizer.phonemes(text) == phonemes


@pytest.mark.parametrize(
    ("stray", "spoken"),
    [
        ("AIの本", "エーアイの本"),
        ("Ｔシャツ", "ティーシャツ"),
        ("5本", "ゴホン"),
        ("３匹", "サンビキ"),
        ("ﾊﾝｶｸの字", "ハンカクの字"),
        ("昔々", "むかしむかし"),
        ("ですよー", "ですヨー"),
    ],
)
def test_stray_characters_are_spoken(
    phonemizer: JapanesePhonemizer, stray: str, spoken: str
) -> None:
    heard, wanted = (phonemizer.phonemes(text) for text in (stray, spoken))
    assert heard.replace(" ", "") == wanted.replace(" ", "")


@pytest.mark.parametrize("kanji", ["𠮷", "俐", "們", "龘", "鱻"])
def test_kanji_that_no_dictionary_word_has_is_heard(
    phonemizer: JapanesePhonemizer, kanji: str
) -> None:
    assert phonemizer.phonemes(kanji)


def test_text_without_speech_is_silence(phonemizer: JapanesePhonemizer) -> None:
    assert phonemizer.phonemes("") == ""
    assert phonemizer.phonemes("★ ☆ 😀 \ud800") == ""


@given(st.text())
@settings(max_examples=300)
def test_any_text_gives_only_symbols_of_the_table(
    phonemizer: JapanesePhonemizer, text: str
) -> None:
    assert set(phonemizer.phonemes(text)) <= set(symbol_ids())


@given(
    st.text(
        st.sampled_from("東京日本語漢字ひらがなカタカナーっッんン一二三本々、。A1"),
        min_size=1,
    )
)
@settings(max_examples=300)
def test_words_are_the_text(phonemizer: JapanesePhonemizer, text: str) -> None:
    if not text.isascii() and not set(text) & set("A1"):
        assert "".join(word.surface for word in phonemizer.words(text)) == text


@given(KANA)
@settings(max_examples=300)
def test_every_kana_is_heard(phonemizer: JapanesePhonemizer, text: str) -> None:
    assert phonemizer.phonemes(text)


def test_long_text_takes_time_in_proportion(phonemizer: JapanesePhonemizer) -> None:
    phonemizer.phonemes("温める")
    for unit in ("今日は良い天気です。", "ア", "一", "。", "漢", "A"):
        text = unit * (10_000 // len(unit))
        started = perf_counter()
        phonemizer.phonemes(text)
        assert perf_counter() - started < 8, unit


def test_threads_share_one_dictionary() -> None:
    phonemizer = JapanesePhonemizer()
    with ThreadPoolExecutor(4) as pool:
        heard = set(pool.map(phonemizer.phonemes, ["明日は晴れ"] * 8))
    assert heard == {"aɕita βa haɾe"}
