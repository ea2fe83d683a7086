"""Which language each part of a text is read in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosykit.synthesis.text.language import main_language, spans, zones
from cosykit.types import Language

LANGUAGES: tuple[Language, ...] = ("zh", "en", "ja", "yue")
texts = st.text(
    alphabet='你這语日ぁカa B1.,。！“("\n-\U000f0000\U00100000', max_size=60
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("你好，世界", "zh"),
        ("Hello, world", "en"),
        ("こんにちは", "ja"),
        ("東京へ行く", "ja"),
        ("カタカナ", "ja"),
        ("東京", "zh"),
        ("我用Python和TensorFlow做机器学习", "zh"),
        ("The word 你好 means hello", "en"),
        ("日语里的「ありがとう」是谢谢的意思", "zh"),
        ("優しいですね。東京。大阪。", "ja"),
        ("12345", "zh"),
        ("QQ：12345678", "zh"),
        ("QQ: 12345678", "en"),
        ("Note：that is fine", "en"),
        ("", "zh"),
        ("👍", "zh"),
        ("**Bold** <b>text</b>", "en"),
        ("iPhone 15 Pro怎么样", "zh"),
        ("안녕하세요", "ko"),
        ("Samsung이 iPhone을 이겼다", "ko"),
        ("他说안녕", "ko"),
        ("他说了一句안녕", "zh"),
        ("<|yue|>Hello", "yue"),
        (" <|ko|>", "ko"),
    ],
)
def test_most_letters_tell_the_main_language(text: str, language: Language) -> None:
    assert main_language(text) == language


@pytest.mark.parametrize(
    ("text", "main", "expected"),
    [
        ("我买了3个iPhone 15 Pro。", "zh", [("我买了3个iPhone 15 Pro。", "zh")]),
        ("version 2.0发布了", "zh", [("version 2.0发布了", "zh")]),
        ("第2章 Introduction", "zh", [("第2章 Introduction", "zh")]),
        (
            "他说 I have 3 apples 然后走了",
            "zh",
            [("他说 ", "zh"), ("I have 3 apples", "en"), (" 然后走了", "zh")],
        ),
        (
            "The word 你好 has 2 characters.",
            "en",
            [("The word", "en"), (" 你好 ", "zh"), ("has 2 characters.", "en")],
        ),
        ("I bought 3个", "en", [("I bought", "en"), (" 3个", "zh")]),
        ("In 2024, 中国", "en", [("In 2024,", "en"), (" 中国", "zh")]),
        ("你好。I have 2 cats.", "zh", [("你好。", "zh"), ("I have 2 cats.", "en")]),
        ("3月5日です", "ja", [("3月5日です", "ja")]),
        (
            "3月5日です。他说3遍这个。",
            "ja",
            [("3月5日です。", "ja"), ("他说3遍这个。", "zh")],
        ),
        ("15:30", "en", [("15:30", "en")]),
        ("15:30", "zh", [("15:30", "zh")]),
        ("Chapter 3", "zh", [("Chapter 3", "zh")]),
        ("Chapter 3", "en", [("Chapter 3", "en")]),
    ],
)
def test_numbers_go_with_the_words_around_them(
    text: str, main: Language, expected: list[tuple[str, Language]]
) -> None:
    assert list(zones(text, main)) == expected


@pytest.mark.parametrize(
    ("text", "main", "expected"),
    [
        ("你好world", "zh", [("你好", "zh"), ("world", "en")]),
        ("用 Python 写。", "zh", [("用 ", "zh"), ("Python ", "en"), ("写。", "zh")]),
        ("说“Hello”吧", "zh", [("说", "zh"), ("“Hello”", "en"), ("吧", "zh")]),
        ("don't stop", "zh", [("don't stop", "en")]),
        ("“你好”", "en", [("“你好”", "zh")]),
        ("東京", "zh", [("東京", "zh")]),
        ("東京", "ja", [("東京", "ja")]),
        ("东京这里", "ja", [("东京这里", "zh")]),
        ("東京へ", "zh", [("東京へ", "ja")]),
        ("优の良品", "zh", [("优", "zh"), ("の", "ja"), ("良品", "zh")]),
        ("呢度好靓", "yue", [("呢度好靓", "yue")]),
        ("……", "en", [("……", "en")]),
        ("3个", "zh", [("3个", "zh")]),
        (
            "我\U000f0000，\U00100000。",
            "zh",
            [
                ("我", "zh"),
                ("\U000f0000", "zh"),
                ("，", "zh"),
                ("\U00100000", "en"),
                ("。", "en"),
            ],
        ),
    ],
)
def test_letters_decide_the_spans(
    text: str, main: Language, expected: list[tuple[str, Language]]
) -> None:
    assert [(span.text, span.language) for span in spans(text, main)] == expected


@settings(deadline=None)
@given(texts, st.sampled_from(LANGUAGES))
def test_zones_lose_and_repeat_nothing(text: str, main: Language) -> None:
    assert "".join(zone for zone, _ in zones(text, main)) == text


@settings(deadline=None)
@given(texts.filter(bool), st.sampled_from(LANGUAGES))
def test_spans_lose_and_repeat_nothing(text: str, main: Language) -> None:
    assert "".join(span.text for span in spans(text, main)) == text
