"""Whisper's tokenizer, held to ids recorded with the official one."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosykit.synthesis.text.whisper.special import special_tokens
from cosykit.synthesis.text.whisper.tokenizer import WhisperTokenizer
from cosykit.synthesis.text.whisper.words import split_words

OFFICIAL = json.loads(Path(__file__).with_name("official.json").read_text("utf-8"))
TOKENIZER = WhisperTokenizer()
any_text = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    "case", OFFICIAL["cases"], ids=lambda case: ascii(case["text"])
)
def test_tokens_are_the_official_ones(case: dict[str, list[int] | str]) -> None:
    assert TOKENIZER.encode(str(case["text"])).tolist() == case["ids"]


def test_special_tokens_are_the_official_ones() -> None:
    ours = special_tokens()
    for name, token in OFFICIAL["special_tokens"].items():
        assert ours[name] == token
    assert max(ours.values()) == OFFICIAL["vocab"] - 1


@given(any_text)
def test_decoding_gives_the_text_back(text: str) -> None:
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@given(st.text("a1_' \t\x1c\xa0²Ⅳ好안é\u0301🙂"))
def test_words_are_the_whole_text(text: str) -> None:
    words = split_words(text)
    assert "".join(words) == text
    assert all(words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello world", ["Hello", " world"]),
        ("it's we'll 'tis", ["it", "'s", " we", "'ll", " '", "tis"]),
        ("a  b", ["a", " ", " b"]),
        ("x²y½", ["x", "²", "y", "½"]),
        ("snake_case", ["snake", "_", "case"]),
        ("a\x1cb", ["a", "\x1c", "b"]),
        ("一二三，四", ["一二三", "，", "四"]),
    ],
)
def test_words_end_where_the_kind_of_character_changes(
    text: str, words: list[str]
) -> None:
    assert split_words(text) == words


def test_special_tokens_are_found_inside_a_text() -> None:
    inside = TOKENIZER.encode("再<|yue|>见").tolist()
    around = [*TOKENIZER.encode("再"), 50358, *TOKENIZER.encode("见")]
    assert inside == around


def test_surrogates_are_joined_in_pairs_or_replaced() -> None:
    assert TOKENIZER.decode(TOKENIZER.encode("\ud83d\ude42")) == "🙂"
    assert TOKENIZER.decode(TOKENIZER.encode("a\ud83d")) == "a\ufffd"


def test_a_character_cut_apart_decodes_to_a_replacement() -> None:
    (first, *_) = TOKENIZER.encode("🙂")
    assert TOKENIZER.decode([int(first)]) == "\ufffd"


@pytest.mark.parametrize("unit", ["a", "好", "_", " ", "<|"])
def test_one_endless_word_takes_no_more_than_linear_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    # In quadratic time this would not end within the hour.
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text
