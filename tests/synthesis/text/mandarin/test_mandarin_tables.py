"""The tables of `data/` are well formed and reach what they name."""

import importlib
import re
from functools import cache
from importlib.resources import files

import pytest

from cosykit.synthesis.text.mandarin.lexicon import Lexicon
from cosykit.synthesis.text.mandarin.pinyin import (
    SYLLABLES,
    parse_reading,
    syllables,
)

DATA = files("cosykit.synthesis.text.mandarin") / "data"


def lines(name: str) -> list[str]:
    text = re.sub(r"\|\n +", "|", (DATA / name).read_text(encoding="utf-8"))
    text = re.sub(r"\n +", " ", text)
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@cache
def parse(reading: str) -> str:
    return str(parse_reading(reading)[0])


def targets_and_rules() -> list[tuple[str, list[str], list[str]]]:
    rules = [line.split() for line in lines("contexts.txt") if line[0] != "{"]
    return [
        (target, rest[: len(target)], rest[len(target) :]) for target, *rest in rules
    ]


def test_every_context_rule_can_be_reached() -> None:
    closed: set[str] = set()
    for target, _, conditions in targets_and_rules():
        if any(condition.startswith("word=") for condition in conditions):
            continue
        assert target not in closed, f"{target} {conditions}"
        if not conditions:
            closed.add(target)


def test_every_context_rule_is_well_formed() -> None:
    places = ("word=", "prev=", "next=", "earlier=", "later=", "prev!=", "next!=")
    for target, reading, conditions in targets_and_rules():
        assert len(syllables(" ".join(reading))) == len(target)
        for condition in conditions:
            assert condition.startswith(places) or condition.startswith("later!=")


@pytest.mark.parametrize("name", ["words.txt", "characters.txt"])
def test_dictionary_holds_known_syllables_only(name: str) -> None:
    for line in lines(name):
        first, rest = line.split(" ", 1)
        spelled = rest if name == "words.txt" else first
        assert all(spoken.base in SYLLABLES for spoken in syllables(spelled)), line


def test_every_word_of_ours_has_a_syllable_a_character() -> None:
    lexicon = Lexicon()
    own = lines("readings.txt")
    words = " ".join(lines("neutral.txt")).split()
    words += [line.split(" = ")[0] for line in own if "=" in line]
    words += " ".join(line.split(": ")[1] for line in own if ":" in line).split()
    for word in words:
        reading = lexicon.word(word)
        assert reading is not None
        assert len(reading) == len(word), word


def test_no_word_of_ours_is_listed_under_two_readings() -> None:
    seen: dict[tuple[str, str], str] = {}
    for line in lines("readings.txt"):
        if ":" not in line:
            continue
        rule, words = line.split(": ")
        char, reading = rule.split()
        for word in words.split():
            assert char in word
            assert seen.setdefault((char, word), reading) == reading, f"{char} {word}"


def test_other_words_are_read_as_in_the_dictionary_they_come_from() -> None:
    pypinyin = importlib.import_module("pypinyin.constants")
    lexicon = Lexicon()
    corrected = {line[0] for line in lines("readings.txt") if line[1] == " "}
    changed = corrected.union("一不儿谁子们")
    compared = 0
    for word, readings in pypinyin.PHRASES_DICT.items():
        ours = lexicon.word(word) or tuple(map(lexicon.character, word))
        if lexicon.is_own(word) or changed & set(word) or len(ours) != len(readings):
            continue
        theirs = [parse(reading) for (reading, *_) in readings]
        assert list(map(str, ours)) == theirs, word
        compared += 1
    assert compared > 10_000
