"""A text becomes pieces that suit a language model, and none of it is lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosykit.errors import InputError
from cosykit.synthesis.text.balance import LONGEST
from cosykit.synthesis.text.frontend import StandardFrontend
from cosykit.synthesis.text.pieces import TextPieces
from cosykit.synthesis.text.whisper.tokenizer import WhisperTokenizer
from cosykit.types import Language

PIECES = TextPieces(StandardFrontend())
TOKENIZER = WhisperTokenizer()


def texts_of(text: str, language: Language | None = None) -> list[str]:
    return [piece.text for piece in PIECES.cut(text, language)]


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("你好", "你好。"),
        ("嗯。好的。啊！", "嗯。好的。啊！"),
        ("我有3个苹果，", "我有三个苹果。"),
        ("你好 世界", "你好世界。"),
        ("用Python 写代码。", "用Python写代码。"),
        ("他（小明）来了。", "他，小明，来了。"),
        ("（开门）走吧（真的）。", "开门，走吧，真的。"),
        ("好——走吧！", "好，走吧！"),
        ("他说：“你好。”", "他说：“你好。”"),
        ("“你好。”他说，", "“你好。”他说。"),
        ("It costs $5", "It costs five dollars."),
        ('He said (really): "Yes."', 'He said (really): "Yes."'),
        ("Title\nNext line", "Title. Next line."),
        ("第一章\n从前", "第一章。从前。"),
        ("今日は3時です", "今日はサンジです。"),
        ("안녕하세요. 사과 3개!", "안녕하세요. 사과 세 개!"),
        ("Samsung이 만들었다", "Samsung이 만들었다."),
    ],
)
def test_short_text_is_one_punctuated_piece(text: str, piece: str) -> None:
    assert texts_of(text) == [piece]


def test_cantonese_keeps_its_characters() -> None:
    assert texts_of("食咗饭未呀？", "yue") == ["食咗饭未呀？"]


def test_tokens_are_those_of_the_text() -> None:
    (piece,) = PIECES.cut("你好。")
    assert piece.tokens.tolist() == TOKENIZER.encode("你好。").tolist()


@pytest.mark.parametrize(
    "text",
    [
        "今天天气很好，我们去公园玩吧。" * 40,
        "好。" * 200,
        "天地玄黄宇宙洪荒" * 60,
        "今天天气很好，我们去公园玩吧，" * 30,
        "The quick brown fox jumps over the lazy dog. " * 30,
        "one two three four five six seven eight nine ten " * 30,
        "오늘은 날씨가 아주 좋아요. 공원에 갈까요? " * 20,
        "今日はとてもいい天気ですね。" * 20,
    ],
)
def test_long_text_becomes_pieces_of_much_the_same_length(text: str) -> None:
    pieces = PIECES.cut(text)
    sizes = [piece.tokens.size for piece in pieces]
    assert len(sizes) > 1
    assert max(sizes) <= LONGEST + 5
    assert min(sizes) >= LONGEST // 3
    assert letters("".join(piece.text for piece in pieces)) == letters(text)


def test_last_words_go_with_what_is_before_them() -> None:
    pieces = texts_of("今天天气很好，我们一起去公园玩吧。" * 4 + "好。")
    assert len(pieces[-1]) > 20


def test_pieces_end_where_sentences_do() -> None:
    pieces = texts_of("今天天气很好，我们去公园玩吧。" * 40)
    assert all(piece.endswith("。") for piece in pieces)


def test_short_lines_are_joined() -> None:
    sizes = [piece.tokens.size for piece in PIECES.cut("短句。\n" * 50)]
    assert min(sizes) >= 20


def test_long_paragraphs_stay_apart() -> None:
    paragraph = "今天天气很好，我们一起去公园玩吧。" * 3
    first, second = PIECES.cut(f"{paragraph}\n{paragraph}")
    assert first.ends_paragraph
    assert not second.ends_paragraph


@pytest.mark.parametrize(
    "text",
    [
        "他笑[laughter]了，$5<strong>好</strong>",
        "<laughter>哈哈</laughter>[breath]好的 （3个）",
        "<|HAPPY|>今天 天气",
        "Wait[quick_breath]  what",
    ],
)
def test_text_with_marks_is_left_alone(text: str) -> None:
    assert texts_of(text) == [text]
    assert PIECES.normalized(text) == text


def test_language_tag_stands_before_every_piece() -> None:
    pieces = PIECES.cut("<|yue|>" + "我哋一齐去食饭啦。" * 30)
    assert len(pieces) > 1
    for piece in pieces:
        expected = TOKENIZER.encode("<|yue|>" + piece.text)
        assert piece.tokens.tolist() == expected.tolist()


def test_piece_ends_where_the_tag_changes() -> None:
    pieces = PIECES.cut("[breath]<|zh|>你好<|en|>Hello there<|ja|>。")
    assert [piece.text for piece in pieces] == ["[breath]你好", "Hello there"]
    assert [int(piece.tokens[0]) for piece in pieces] == [50260, 50259]


def test_marks_are_not_cut_apart() -> None:
    text = "好" * 70 + "[quick_breath]" + "好" * 100
    pieces = texts_of(text)
    assert len(pieces) > 1
    assert "".join(pieces) == text
    assert sum("[quick_breath]" in piece for piece in pieces) == 1


def test_tag_is_added_where_it_is_asked_for() -> None:
    (tagged,) = PIECES.cut("Good morning.", tagged=True)
    assert tagged.tokens.tolist() == TOKENIZER.encode("<|en|>Good morning.").tolist()
    (cantonese,) = PIECES.cut("早晨。", "yue", tagged=True)
    assert int(cantonese.tokens[0]) == 50358


def test_transcript_is_normalised_and_whole() -> None:
    text = "今天是3月5日，我们去公园。" * 20
    assert PIECES.normalized(text) == "今天是三月五日，我们去公园。" * 20


@pytest.mark.parametrize("text", ["", " \n", "<|zh|>", "[breath]。", "。。。", "😀"])
@pytest.mark.parametrize("language", [None, "ko"])
def test_text_without_words_is_refused(text: str, language: Language | None) -> None:
    with pytest.raises(InputError):
        PIECES.cut(text, language)


@given(st.text("好的 aB1。，.!?\n[]<|>/zhenlaughter안녕", max_size=300))
def test_marked_text_loses_nothing(text: str) -> None:
    marked = "<|zh|>好" + text
    spoken = "".join(texts_of(marked))
    without_tags = re.sub(r"<\|(?:zh|en|ja|yue|ko)\|>", "", marked)
    assert letters(spoken) == letters(without_tags)


def test_pinyin_is_written_in_characters_that_are_read_so() -> None:
    (piece,) = PIECES.cut("我在重庆。", pronunciations={"重庆": "zhong4 qing4"})
    assert piece.text == "我在众庆。"


def test_words_spoken_instead_are_written_instead() -> None:
    (piece,) = PIECES.cut("我用SQL。", pronunciations={"SQL": "sequel"})
    assert piece.text == "我用sequel。"


def test_phonemes_are_refused_where_letters_are_read() -> None:
    with pytest.raises(InputError, match="not the phonemes of 'SQL'"):
        PIECES.cut("我用SQL。", pronunciations={"SQL": "/sˈikwəl/"})
