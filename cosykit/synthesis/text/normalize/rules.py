"""Rewriting rules: a pattern and how to read what it finds.

Patterns see ASCII only (0 to 9 are the digits, and a word ends between a digit and a
Han character) and never start inside a number, so that a rule takes linear time.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

NUMBER = r"(?:\d+(?:\.\d+)?)"
NUMBER_START = r"(?<![\d.])(?<!\d,)"
"""Before a number: not in the middle of one."""
NUMBER_END = r"(?!\d|[.,]\d)"
"""After a whole number; a full stop or comma may end the sentence there."""
SHORT_WORD_BEFORE_NUMBER = r"\b([A-Za-z]{2,3})\.(?=\d)"
"""As in Lv.5, whose point belongs to no number."""
DOTTED_WITH_PORT = (
    r"(?<![\w.-])(\d+(?:\.\d+){2,})(?::(\d{2,5})(?![\d:]))?(?![A-Za-z\d])"
)
"""An address or a version, and the port of the former: `10.0.0.1:8080`, `2.3.1`."""
MODEL = (
    r"(?<![\w.-])(?=[\d.-]*[A-Za-z])[A-Za-z\d]+"
    r"(?:(?:-|(?:(?<=\d)|(?<=\b[A-Za-z])|(?<=-rc)|(?<=-dev)|(?<=alpha)|(?<=beta))"
    r"\.(?=\d))[A-Za-z\d]+)*"
)
"""A word, or a name of letters and digits: `GPT-4o`, `Qwen2.5-7B`, `1.0-beta.2`."""
MODEL_PART = re.compile(r"\d+(?:\.\d+)*|[A-Za-z]+|[-.]", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of thing and its reading.

    Attributes:
        pattern: What to look for.
        reading: A replacement template, or a function of the match.
    """

    pattern: re.Pattern[str]
    reading: str | Callable[[re.Match[str]], str]


def rule(pattern: str, reading: str | Callable[[re.Match[str]], str]) -> Rule:
    """Make a rule from a regular expression."""
    return Rule(re.compile(pattern, re.ASCII), reading)


def rewrite(text: str, rules: Iterable[Rule]) -> str:
    """Apply rules one after the other."""
    for each in rules:
        text = each.pattern.sub(each.reading, text)
    return text


def paired(rows: str) -> Mapping[str, str]:
    """Make a table of a text whose words are keys and values by turns."""
    words = rows.split()
    return MappingProxyType(dict(zip(words[::2], words[1::2], strict=True)))


def one_of(words: str | Iterable[str]) -> str:
    """Make an alternation of words, or of a text of words, that prefers the longest."""
    words = words.split() if isinstance(words, str) else words
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
