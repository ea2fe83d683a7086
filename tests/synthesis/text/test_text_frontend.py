"""The way from raw text to sentences, as a whole."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosykit.config.schema import TextSettings
from cosykit.errors import InputError
from cosykit.seams import TextFrontend
from cosykit.synthesis.text.frontend import StandardFrontend, open_frontend
from cosykit.types import Language

FRONTEND = StandardFrontend()


def read(text: str, language: Language | None = None) -> str:
    return " ".join(sentence.text for sentence in FRONTEND.sentences(text, language))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我买了3个iPhone 15 Pro。", "我买了三个iPhone 十五 Pro。"),
        ("第2章 Introduction", "第二章 Introduction"),
        ("version 2.0发布了", "version 二点零发布了"),
        (
            "他跑了5 km, then had 2 beers。",
            "他跑了five kilometers, then had two beers。",
        ),
        ("他说 I have 3 apples 然后走了。", "他说 I have three apples 然后走了。"),
        ("The word 你好 has 2 characters.", "The word 你好 has two characters."),
        ("用GPT-4o写了2篇文章", "用GPT四o写了两篇文章"),
        ("Windows 11的价格是￥1,234.50", "Windows 十一的价格是一千二百三十四点五元"),
        ("I paid $5. 他付了$5。", "I paid five dollars. 他付了五美元。"),
        ("打开https://a.com/x看看", "打开A点com斜杠X看看"),
        ("Open https://a.com/x now.", "Open A dot com slash X now."),
        ("COVID-19疫情从2019年开始", "COVID十九疫情从二零一九年开始"),
        ("Meeting at 3:30 PM, 请准时参加第2次会议。", None),
        ("MP3格式的5首歌", "MP三格式的五首歌"),
        ("会议时间: 9:00-17:30, Room 705", None),
        ("联系john@a.com或者拨打400-820-8820", None),
        ("今天气温36.5℃，湿度60%。", "今天气温三十六点五摄氏度，湿度百分之六十。"),
        ("买2送1", "买二送一"),
        ("5G网络比4G快10倍", "五G网络比四G快十倍"),
        ("B站有1.5亿用户", "B站有一点五亿用户"),
        ("Q3财报显示增长20%", "Q三财报显示增长百分之二十"),
        ("在GitHub上有10k+ stars", None),
        ("**重要**：请在2024-05-01前完成！👍", "重要：请在二零二四年五月一日前完成！"),
    ],
)
def test_mixed_text_is_read_in_the_language_around(
    text: str, words: str | None
) -> None:
    reading = read(text)
    assert not re.search("[0-9]", reading)
    if words is not None:
        assert reading == words


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("123", None, "一百二十三"),
        ("123", "en", "one hundred twenty-three"),
        ("15:30", "en", "fifteen thirty"),
        ("Chapter 3", None, "Chapter three"),
        ("Chapter 3", "zh", "Chapter 三"),
        ("3个 apples", "en", "三个 apples"),
        ("共3个", "yue", "共三个"),
    ],
)
def test_an_explicit_language_reads_what_has_none(
    text: str, language: Language | None, words: str
) -> None:
    assert read(text, language) == words


def test_cantonese_text_is_marked_as_such() -> None:
    (sentence,) = FRONTEND.sentences("呢度好靓", "yue")
    assert [span.language for span in sentence.spans] == ["yue"]


def test_japanese_is_read_as_japanese() -> None:
    (sentence,) = FRONTEND.sentences("会議は3時からです。", None)
    assert {span.language for span in sentence.spans} == {"ja"}
    assert sentence.text.startswith("会議は")
    assert "3" not in sentence.text


def test_every_line_is_a_paragraph() -> None:
    sentences = FRONTEND.sentences("一。二。\n三\n\n\n……\n四", None)
    assert [(each.text, each.ends_paragraph) for each in sentences] == [
        ("一。", False),
        ("二。", True),
        ("三…", True),
        ("四", False),
    ]


def test_short_interjections_and_tails_are_kept() -> None:
    assert [each.text for each in FRONTEND.sentences("嗯。好。我知道了，哦", None)] == [
        "嗯。",
        "好。",
        "我知道了，哦",
    ]


def test_without_normalisation_the_words_stay() -> None:
    frontend = StandardFrontend(normalize=False)
    sentences = frontend.sentences("**第3章**。It costs $5.20. Dr. Wu 有2个👍", None)
    assert [each.text for each in sentences] == [
        "第3章。",
        "It costs $5.20.",
        "Dr. Wu 有2个",
    ]
    assert [span.language for span in sentences[2].spans] == ["en", "zh"]


@pytest.mark.parametrize("text", ["", " \n\t", "\ufeff"])
def test_empty_text_is_an_error(text: str) -> None:
    with pytest.raises(InputError) as caught:
        FRONTEND.sentences(text, None)
    assert caught.value.hint
    assert caught.value.param == "text"


@pytest.mark.parametrize(
    "text",
    [
        "。",
        "?!...",
        "👍🎉",
        "——",
        "**",
        "<br>",
        "()",
        "# \n---\n",
        "\ud800",
        "~~ ^_^ ~~",
    ],
)
def test_text_with_nothing_to_speak_is_an_error(text: str) -> None:
    with pytest.raises(InputError, match="nothing to speak"):
        FRONTEND.sentences(text, None)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Привет, мир!", "Cyrillic"),
        ("مرحبا", "Arabic"),
        ("สวัสดี", "Thai"),
        ("Γειά 5", "Greek"),
    ],
)
def test_text_in_another_script_is_an_error_that_names_it(
    text: str, script: str
) -> None:
    with pytest.raises(InputError, match=f"the {script} script"):
        FRONTEND.sentences(text, None)


@pytest.mark.parametrize(
    ("text", "language", "param"),
    [("hello", "ko", "language"), ("안녕하세요", None, "text")],
)
def test_korean_is_refused_with_the_model_that_speaks_it(
    text: str, language: Language | None, param: str
) -> None:
    with pytest.raises(InputError, match="does not speak Korean") as caught:
        FRONTEND.sentences(text, language)
    assert "cosykit install cosyvoice-300m-sft" in caught.value.hint
    assert caught.value.param == param


def test_foreign_words_in_our_text_are_roughly_read() -> None:
    assert (
        read("Москва和안녕, café, α粒子 مرحبا") == "Moskva和annyeong, cafe, 阿尔法粒子"
    )


PIECES = [
    *("我", "买了", "个", "年", "第", "月", "日", "元", "到", "点", "号", "％", "￥"),
    *("hello", "iPhone", "May", "the", "Dr.", "No.", "v", "km", "GB", "pm", "U.S."),
    *"0123456789 .,:;-/+=~%$#@*^_()[]<>|\\'\"\n。，！？…—“”×²½Ⅳ①٣",
    *("https://", "www.a.com", "a@b.cn", "👍", "1️⃣", "&amp;", "<b>", "```", "\u0301"),
]
messy_texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@settings(max_examples=400)
@given(messy_texts, st.sampled_from([None, "zh", "en"]))
def test_no_digit_and_no_unknown_sign_is_left(
    text: str, language: Language | None
) -> None:
    try:
        sentences = FRONTEND.sentences(text, language)
    except InputError:
        return
    for sentence in sentences:
        assert re.fullmatch(
            r"[A-Za-z\u4e00-\u9fff\s，。！？；：、“”（）—…,.!?;:\"()'-]+", sentence.text
        )
        assert sentence.text == sentence.text.strip()
        assert all(span.language in ("zh", "en") for span in sentence.spans)


@settings(max_examples=300)
@given(st.text(max_size=80), st.sampled_from([None, "zh", "en", "yue"]))
def test_any_text_is_read_or_refused(text: str, language: Language | None) -> None:
    if re.search("[\u3040-\u30ff\uff65-\uff9f\u3300-\u33ff]", text):
        return
    try:
        sentences = FRONTEND.sentences(text, language)
    except InputError as error:
        assert error.hint
    else:
        assert all(sentence.text for sentence in sentences)


words = st.lists(st.sampled_from(["你好", "世界", "hello", "big", "嗯"]), min_size=1)
joints = st.sampled_from(["", " ", "，", "。", "! ", "\n", ". ", "……", "；"])


@settings(deadline=None)
@given(st.lists(st.tuples(words.map("".join), joints), min_size=1, max_size=60))
def test_no_word_is_lost_or_said_twice(parts: list[tuple[str, str]]) -> None:
    text = "".join(word + joint for word, joint in parts)
    spoken = "".join(sentence.text for sentence in FRONTEND.sentences(text, None))
    letters = re.compile(r"[^A-Za-z\u4e00-\u9fff]")
    assert letters.sub("", spoken) == letters.sub("", text)


HOSTILE = {
    "digits": "1",
    "brackets": "(",
    "square brackets": "[",
    "links": "[a](",
    "quotes": "> ",
    "emphasis": "**a _",
    "tags": "<b",
    "comments": "<!--",
    "fences": "```\n",
    "tables": "|a\n|-|\n",
    "dots": "1.",
    "thousands": "1,111,",
    "dashes": "1-",
    "colons": "1:",
    "spaces": " ",
    "letters": "a",
    "addresses": "a@a.",
    "paths": "/a",
    "joined emoji": "👨\u200d",
    "stacked marks": "a\u0301\u0327\u0323",
    "surrogates": "\ud83d",
    "question marks": "?!",
    "one long sentence": "好",
    "words": "a b ",
    "ampersands": "&a",
    "equations": "1+1-",
    "formulas": "$a",
    "ranges": "3楼-",
    "fractions": "1/1-",
    "rates": "一人/",
}


def _work_s(text: str) -> float:
    start = time.process_time()
    sentences = FRONTEND.sentences(text, None)
    assert "好" in sentences[-1].text
    return time.process_time() - start


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    def text(characters: int) -> str:
        return unit * (characters // len(unit)) + "a1好"

    # Four times the text: linear work is 4 times as much, quadratic work 16 times, in
    # each of three attempts; other work of the machine disturbs only some.
    assert any(
        _work_s(text(40_000)) < 9 * _work_s(text(10_000)) + 0.1 for _ in range(3)
    )


def test_the_entry_point_follows_the_configuration() -> None:
    frontend = open_frontend(
        TextSettings(normalize=False, pronunciations={"SQL": "sequel"})
    )
    assert isinstance(frontend, TextFrontend)
    assert frontend.sentences("SQL 5", None)[0].text == "sequel 5"
