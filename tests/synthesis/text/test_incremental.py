"""A text that comes in pieces is cut where it would be if it came at once."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cosykit.synthesis.text.incremental import IncomingText

# Whole constructs among single characters, so that many are complete, and many broken.
parts = st.sampled_from(
    [
        *"好吗的 aBx.。!！?？…,，;；、—:\"“”」）(')[]<>|*/-\n\r15",
        "今天天气很好，我们去公园玩吧",
        "the quick brown fox ",
        "Mr. ",
        "e.g. ",
        "3.14",
        "1，000",
        "<|en|>",
        "<b>",
        "<!-- a. b -->",
        "[Is it? Yes. Really](http://x.y/z?a)",
        "https://a.b/c?d=e.f!",
        "\n1. ",
        "🙂",
    ]
)
texts = st.lists(parts, max_size=60).map("".join)


def sentences_of(fragments: Iterable[str]) -> list[str]:
    """Feed the fragments and take what there is after each."""
    incoming = IncomingText()
    taken: list[str] = []
    for fragment in fragments:
        incoming.feed(fragment)
        taken += _all_of(incoming)
    incoming.flush()
    taken += _all_of(incoming)
    assert incoming.length == 0
    return taken


def _all_of(incoming: IncomingText) -> Iterable[str]:
    while (sentence := incoming.take()) is not None:
        yield sentence


def _ends(sentences: Sequence[str]) -> set[int]:
    return {sum(map(len, sentences[:count])) for count in range(len(sentences) + 1)}


def _first_ends(sentences: Sequence[str]) -> set[int]:
    return {len(sentence) for sentence in sentences[:1]}


@given(st.lists(texts, max_size=4))
@example(["\n", ""])
def test_it_is_known_whether_words_are_left(fragments: list[str]) -> None:
    incoming, left = IncomingText(), "".join(fragments)
    for fragment in fragments:
        incoming.feed(fragment)
    incoming.flush()
    assert incoming.is_blank == (not left.strip())
    for sentence in _all_of(incoming):
        left = left.removeprefix(sentence)
        assert incoming.is_blank == (not left.strip())


@given(texts)
def test_nothing_is_lost_or_repeated(text: str) -> None:
    sentences = sentences_of([text])
    assert "".join(sentences) == text
    assert all(sentences)


@given(texts, st.data())
def test_fragments_do_not_matter(text: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    edges = [0, *cuts, len(text)]
    fragments = [text[start:end] for start, end in pairwise(edges)]
    at_once = sentences_of([text])
    for taken in (sentences_of(fragments), sentences_of(text)):
        assert "".join(taken) == text
        # Only the first sentence may be given in two, and what has come decides where:
        # a line break after a full stop goes with it, or with what follows.
        assert _ends(taken) - _ends(at_once) <= _first_ends(taken)
        assert _ends(at_once) - _ends(taken) <= _first_ends(at_once)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "你好，我是你的助手。今天天气怎么样？我不知道",
            ["你好，我是你的助手。", "今天天气怎么样？", "我不知道"],
        ),
        ("“真的是这样吗？”他问。没错没错。", ["“真的是这样吗？”", "他问。没错没错。"]),
        (
            "「今日はいい天気ですね。」と言った。",
            ["「今日はいい天気ですね。」", "と言った。"],
        ),
        (
            "Pi is 3.14159, I believe. Is it not?",
            ["Pi is 3.14159, I believe.", " Is it not?"],
        ),
        (
            "Here comes Dr. Smith of the U.S. Navy. Hi!",
            ["Here comes Dr. Smith of the U.S. Navy.", " Hi!"],
        ),
        (
            "Look at https://a.b/c?d=e.f! Then go.",
            ["Look at https://a.b/c?d=e.f!", " Then go."],
        ),
        (
            "Look at [it? Yes. It](https://a.b/c.d). Then go.",
            ["Look at [it? Yes. It](https://a.b/c.d).", " Then go."],
        ),
        (
            "The sound <|x. y! z|> is one. Another is not.",
            ["The sound <|x. y! z|> is one.", " Another is not."],
        ),
        (
            "Well, if a != b you are lost. Go on.",
            ["Well, if a != b you are lost.", " Go on."],
        ),
        (
            "How very strange... or is it? Go on.",
            ["How very strange... or is it?", " Go on."],
        ),
        (
            "**这一点非常重要。**然后再说别的。",
            ["**这一点非常重要。**", "然后再说别的。"],
        ),
        ("天下大事第一回\n话说天下大势", ["天下大事第一回\n", "话说天下大势"]),
        ("1. 打开系统设置。\n2. 点击确定。", ["1. 打开系统设置。\n", "2. 点击确定。"]),
        (
            "The first one ends here. The second ends here. The third goes on and\non.",
            [
                "The first one ends here.",
                " The second ends here.",
                " The third goes on and\non.",
            ],
        ),
        (
            "And on it went, all through the winter of that year and\nthe next. So.",
            [
                "And on it went, all through the winter of that year and\nthe next.",
                " So.",
            ],
        ),
    ],
)
def test_sentences_end_where_it_is_certain(text: str, sentences: list[str]) -> None:
    assert sentences_of([text, ""]) == sentences


def test_short_sentence_waits_for_the_next() -> None:
    assert sentences_of(["今天天气很好，是吧？好。对。是的是的是的。行了行了"]) == [
        "今天天气很好，是吧？",
        "好。对。是的是的是的。",
        "行了行了",
    ]


@pytest.mark.parametrize(
    ("fragment", "first"),
    [
        ("今天的天气非常好，我们", "今天的天气非常好，"),
        ("Good morning, ", None),
        ("In the beginning of it all, there", "In the beginning of it all,"),
        ("好的好的。我", "好的好的。"),
        ("好的。我", None),
        ("今天的天气非常好，，", None),
        ("今天的天气非常好，，我们", "今天的天气非常好，，"),
        ("一共有一二三四五6，", None),
        ("一共有一二三四五6，000", None),
    ],
)
def test_audio_starts_with_the_first_clause(fragment: str, first: str | None) -> None:
    incoming = IncomingText()
    incoming.feed(fragment)
    assert incoming.take() == first
    assert incoming.take() is None


def test_later_sentences_are_not_begun_early() -> None:
    incoming = IncomingText()
    incoming.feed("今天的天气非常好。我们一起到公园里去玩吧，好")
    assert incoming.take() == "今天的天气非常好。"
    assert incoming.take() is None
    incoming.flush()
    assert incoming.take() == "我们一起到公园里去玩吧，好"


def test_flushed_text_is_a_sentence() -> None:
    incoming = IncomingText()
    incoming.feed("Hi")
    incoming.flush()
    incoming.feed("! 你")
    incoming.flush()
    incoming.flush()
    assert [*_all_of(incoming)] == ["Hi", "! 你"]


def test_cleared_text_is_never_given() -> None:
    incoming = IncomingText()
    incoming.feed("今天的天气非常好。我们")
    assert incoming.take()
    incoming.clear()
    incoming.feed("好的好的。我")
    assert incoming.take() == "好的好的。"
    assert incoming.length == 1


@pytest.mark.parametrize(
    ("unit", "count"),
    [
        ("今天天气很好，我们去公园玩吧，", 100),
        ("天地玄黄宇宙洪荒", 100),
        ("the quick brown fox jumps over the lazy dog ", 100),
        ("supercalifragilistic", 200),
        ("[", 3000),
        ("<a", 3000),
        ("1，", 3000),
        ("🙂", 3000),
        ("…", 3000),
        ("https://a.b/c?d=e.f!", 300),
    ],
)
def test_text_without_an_end_is_not_collected_for_ever(unit: str, count: int) -> None:
    sentences = sentences_of([unit * count])
    assert "".join(sentences) == unit * count
    assert max(map(len, sentences)) < 1200


def test_overlong_sentence_is_cut_between_words() -> None:
    sentences = sentences_of(["brown fox 3.14 [a b](c d) <b c> " * 100])
    assert len(sentences) > 5
    for sentence in sentences:
        words = sentence.strip()
        assert words.startswith(("brown", "fox", "3.14", "[", "<"))
        assert words.endswith(("brown", "fox", "3.14", ")", ">"))
