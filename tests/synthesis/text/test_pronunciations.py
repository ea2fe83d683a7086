"""The user's own readings: what they may be and where they apply."""

import pytest

from cosykit.errors import ConfigError, InputError
from cosykit.synthesis.text.frontend import StandardFrontend
from cosykit.synthesis.text.told import told
from cosykit.types import Language, Sentence, Span


def spans(readings: dict[str, str], text: str) -> list[tuple[str, str | None]]:
    frontend = StandardFrontend(pronunciations=readings)
    return [
        (span.text, span.reading)
        for sentence in frontend.sentences(text, "zh")
        for span in sentence.spans
    ]


@pytest.mark.parametrize(
    "pinyin", ["chong2 qing4", "chóng qìng", "chóngqìng", "Chong2 Qing4", "chong2qing4"]
)
def test_pinyin_takes_one_form(pinyin: str) -> None:
    found = spans({"重庆": pinyin}, "在重庆吃")
    assert found == [("在", None), ("重庆", "chong2 qing4"), ("吃", None)]


def test_ipa_between_slashes_is_kept_as_it_is() -> None:
    found = spans({"CosyKit": "/kˈOzi kˈɪt/"}, "用CosyKit。")
    assert found == [("用", None), ("CosyKit", "/kˈOzi kˈɪt/"), ("。", None)]


def test_other_text_is_spoken_instead_and_normalised() -> None:
    assert spans({"双11": "双十一", "AI": "A.I. 2"}, "双11的AI") == [
        ("双十一的", None),
        ("AI ", None),
        ("二", None),
    ]


def test_longest_word_wins() -> None:
    found = spans({"重": "zhong4", "重庆": "chong2 qing4"}, "重庆重")
    assert [reading for _, reading in found] == ["chong2 qing4", "zhong4"]


def test_words_with_an_inner_capital_match_as_written() -> None:
    assert spans({"SQL": "sequel"}, "SQL和sql") == [
        ("sequel", None),
        ("和", None),
        ("sql", None),
    ]


@pytest.mark.parametrize("written", ["kokoro", "Kokoro", "KOKORO"])
def test_other_words_match_in_any_case(written: str) -> None:
    assert spans({"Kokoro": "heart"}, written) == [("heart", None)]


@pytest.mark.parametrize("text", ["cathedral", "concat", "cat5", "bobcats"])
def test_latin_words_match_whole(text: str) -> None:
    assert "dog" not in "".join(text for text, _ in spans({"cat": "dog"}, text))


def test_signs_at_the_edge_need_no_word_boundary() -> None:
    assert spans({"C++": "see plus plus"}, "学C++吧")[1] == ("see plus plus", None)


def test_reading_stays_next_to_numbers_and_in_long_sentences() -> None:
    found = spans({"行长": "hang2 zhang3"}, "第3位行长，" * 60)
    assert found.count(("行长", "hang2 zhang3")) == 60
    assert ("第三位", None) in found


def test_a_rhotic_syllable_stands_for_two_characters() -> None:
    assert spans({"花儿": "huar1"}, "花儿") == [("花儿", "huar1")]


def test_readings_can_speak_for_other_scripts() -> None:
    assert spans({"привет": "preev yet"}, "Привет") == [("preev yet", None)]


def test_web_addresses_stay_as_they_are() -> None:
    found = spans({"kokoro": "heart"}, "看https://kokoro.com和kokoro")
    assert "".join(text for text, _ in found) == "看kokoro点com和heart"


def test_replacement_is_not_replaced_again() -> None:
    assert spans({"甲": "乙", "乙": "丙"}, "甲乙") == [("乙丙", None)]


@pytest.mark.parametrize(
    ("word", "reading"),
    [
        ("重庆", "chong2"),
        ("重庆", "chong9 qing4"),
        ("重", "chong9"),
        ("重", "chong10"),
        ("重", "chung4"),
        ("重庆", "xyz1 qing4"),
        ("重庆", "chong qing"),
        ("重庆", "chong2 qing4 shi4"),
        ("SQL", "//"),
        ("SQL", "/ /"),
        ("SQL", "/a/b/"),
        ("SQL", "/ˈsek9/"),
        ("SQL", "/сэку/"),
        ("重", "/重/"),
        ("SQL", "!!"),
        ("SQL", " "),
        ("!", "bang"),
        ("", "x"),
    ],
)
def test_unusable_readings_are_named(word: str, reading: str) -> None:
    with pytest.raises(ConfigError, match=r"text\.pronunciations") as caught:
        StandardFrontend(pronunciations={word: reading})
    assert repr(word) in caught.value.message
    assert caught.value.hint


def test_too_many_readings_are_refused() -> None:
    readings = {f"w{number}": "x" for number in range(40_000)}
    with pytest.raises(ConfigError, match="40000 words"):
        StandardFrontend(pronunciations=readings)


def test_readings_of_a_request_come_before_those_of_the_configuration() -> None:
    configured = StandardFrontend(
        pronunciations={"重庆": "chong2 qing4", "行长": "hang2 zhang3"}
    )
    asked = told(configured, {"重庆": "zhong4 qing4"})
    for frontend, reading in ((asked, "zhong4 qing4"), (configured, "chong2 qing4")):
        (sentence,) = frontend.sentences("重庆行长", "zh")
        found = [(span.text, span.reading) for span in sentence.spans]
        assert found == [("重庆", reading), ("行长", "hang2 zhang3")]


def test_unusable_reading_of_a_request_is_the_requests_fault() -> None:
    with pytest.raises(InputError, match="pronunciations: the reading of '重庆'"):
        told(StandardFrontend(), {"重庆": "chong2"})


class Plain:
    """A front end of somebody else."""

    def sentences(self, text: str, language: Language | None) -> list[Sentence]:
        return [Sentence((Span(text, "en"),))]


def test_front_end_that_takes_no_readings_is_not_told_any() -> None:
    plain = Plain()
    assert told(plain, {}) is plain
    with pytest.raises(InputError, match="takes no pronunciations"):
        told(plain, {"a": "b"})
