"""Where a paragraph is cut, and that nothing gets lost there."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosykit.synthesis.text.scripts import is_speakable
from cosykit.synthesis.text.sentences import LONGEST, join_silent, split_sentences

texts = st.text(
    alphabet="好吗 aB.。!！?？…,，;；、—\"“”)('1·-\n\U000f0000", max_size=200
)


@pytest.mark.parametrize(
    ("paragraph", "sentences"),
    [
        ("你好。世界！真的？", ["你好。", "世界！", "真的？"]),
        ("嗯。好。", ["嗯。", "好。"]),
        ("没有标点", ["没有标点"]),
        ("Hello there. How are you? Fine!", ["Hello there.", "How are you?", "Fine!"]),
        ("i am here. you are there.", ["i am here.", "you are there."]),
        ("Pi is 3.14. Yes.", ["Pi is 3.14.", "Yes."]),
        ("Use Node.js now.", ["Use Node.js now."]),
        ("Dr. Smith came. He left.", ["Dr. Smith came.", "He left."]),
        ("See J. Smith. OK.", ["See J. Smith.", "OK."]),
        ("It was I. He left.", ["It was I.", "He left."]),
        ("使用e.g. this one", ["使用e.g. this one"]),
        ("“你好。”他说。", ["“你好。”", "他说。"]),
        ("（真的！）走吧。", ["（真的！）", "走吧。"]),
        ('He said "Hi." Then left.', ['He said "Hi."', "Then left."]),
        ('他说"好。"然后走了。', ['他说"好。"', "然后走了。"]),
        ("“Really?” she asked.", ["“Really?” she asked."]),
        ("我……不知道。", ["我……不知道。"]),
        ("Well… Maybe.", ["Well…", "Maybe."]),
        ("well… maybe.", ["well… maybe."]),
        ("你好.世界.", ["你好.", "世界."]),
        ("……好。", ["……好。"]),
        ("好。”", ["好。”"]),
        ("好。……”", ["好。……”"]),
        ("Wow!!! Great", ["Wow!!!", "Great"]),
    ],
)
def test_sentences_end_at_their_punctuation(
    paragraph: str, sentences: list[str]
) -> None:
    assert [piece.strip() for piece in split_sentences(paragraph)] == sentences


def _length(text: str) -> int:
    return sum(3 if char < "\u2000" else 7 for char in text)


@pytest.mark.parametrize(
    "paragraph",
    [
        "今天天气很好，我们去公园玩吧，" * 30,
        "天地玄黄宇宙洪荒" * 100,
        "the quick brown fox jumps over the lazy dog " * 30,
        "one, two and three; four: five, " * 30,
        "a" * 2000,
        "我用Python写代码" * 60,
    ],
)
def test_overlong_sentences_are_cut_evenly(paragraph: str) -> None:
    pieces = split_sentences(paragraph)
    assert "".join(pieces) == paragraph
    lengths = [_length(piece) for piece in pieces]
    assert max(lengths) <= LONGEST
    assert min(lengths) >= LONGEST // 4


def test_overlong_sentences_are_cut_at_the_strongest_pause() -> None:
    pieces = split_sentences(
        "春天来了，花儿都开了" * 6 + "；" + "夏天来了，知了叫个不停" * 6
    )
    assert pieces[0].endswith("；")
    assert len(pieces) == 2


def test_words_are_not_cut_when_spaces_are_there() -> None:
    pieces = split_sentences("extraordinary circumstances " * 40)
    assert all(piece.endswith(("extraordinary ", "circumstances ")) for piece in pieces)


@settings(deadline=None)
@given(texts)
def test_splitting_loses_and_repeats_nothing(text: str) -> None:
    assert "".join(split_sentences(text)) == text


@settings(deadline=None)
@given(texts.filter(is_speakable))
def test_each_sentence_has_something_to_speak(text: str) -> None:
    assert all(map(is_speakable, split_sentences(text)))


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "。", "好", "", " "])))
def test_silent_pieces_stay_with_their_neighbours(pieces: list[str]) -> None:
    joined = join_silent(pieces)
    assert "".join(joined) == "".join(pieces)
    assert all(map(is_speakable, joined)) or len(joined) == 1


def test_cutting_takes_linear_time() -> None:
    # Quadratic work over 2 million characters would not come back for hours.
    text = "a" * 1_000_000 + "好，" * 500_000
    assert "".join(split_sentences(text)) == text
