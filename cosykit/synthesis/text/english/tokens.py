"""Cut a text into words, marks and spaces, and long words into their parts."""

import re
from typing import Literal, NamedTuple

from cosykit.synthesis.text.english.romanize import romanize

_SYMBOLS = {"%": "percent", "&": "and", "+": "plus", "@": "at", "=": "equals",
            "#": "hash", "$": "dollars", "<": "below", ">": "above"}  # fmt: skip

_MARKS = {"dash": "—", "dots": "…", "open": "(", "close": ")"}
_TOKEN = re.compile(
    r"""
      (?P<word>
          (?<![A-Za-z0-9.])[A-Za-z](?:\.[A-Za-z])+(?![A-Za-z0-9])      # U.S., e.g.
          (?:\.(?!\s*$))?
        | (?<![A-Za-z0-9])[A-G]\#(?![A-Za-z0-9])                       # C#
        | (?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs)\.(?=\s)
        | \d+(?:,\d{3})+(?![\d,])                                      # 12,000
        | (?<![A-Za-z0-9])'(?:em|cause|tis|twas|til|bout|n)(?![A-Za-z])
        | [A-Za-z0-9]+
          (?: (?:['&_-]|\.(?=[a-z0-9]|[A-Z]{2,4}\b))[A-Za-z0-9]+ )*
          (?: (?<=[sS])'(?![A-Za-z]) | [+]{1,2}(?![A-Za-z0-9]) )?      # dogs', C++
      )
    | (?P<symbol> [%&+@=#$<>] )
    | (?P<dash> --+ | (?<=\s)-(?=\s) )
    | (?P<dots> \.{2,} )
    | (?P<mark> [;:,.!?—…"()“”] )
    | (?P<open> [\[{] )
    | (?P<close> [\]}] )
    | (?P<space> \s+ | [/|\\~*^] )
    """,
    re.VERBOSE,
)
_PART = re.compile(
    r"""
      [A-Z]{2,}'?s(?![A-Za-z])      # APIs, CEO's
    | [A-Z]+(?![a-z])               # HTML of HTMLParser
    | [A-Z]?[a-z]+(?:'[A-Za-z]+)*   # Parser, don't
    | (?<!\.)\d+\.\d+(?!\.)         # 3.5, but not 3.5.1
    | \d+
    | [&+#.]
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    """A stretch of a text, in ASCII letters."""

    kind: Literal["word", "mark", "space"]
    text: str


_SPACE = Token("space", " ")


def tokenize(text: str) -> list[Token]:
    """List what a text consists of; what cannot be spoken is left out."""
    return [
        token
        for match in _TOKEN.finditer(_with_quotes(romanize(text)))
        for token in _tokens(match)
    ]


def _tokens(match: re.Match[str]) -> list[Token]:
    kind, text = match.lastgroup, match.group()
    if kind == "symbol":
        return [_SPACE, Token("word", _SYMBOLS[text]), _SPACE]
    if kind == "word":
        return [Token("word", text)]
    if kind == "space":
        return [_SPACE]
    return [Token("mark", _MARKS.get(kind or "", text))]


def _with_quotes(text: str) -> str:
    """Turn straight double quotes into opening and closing ones, by turns."""
    pieces = text.split('"')
    return "".join(
        ("“" if place % 2 else "”") + piece if place else piece
        for place, piece in enumerate(pieces)
    )


def parts(word: str) -> list[str]:
    """Cut a compound at hyphens, capitals and digits: PyTorch as Py and Torch."""
    return _PART.findall(word)
