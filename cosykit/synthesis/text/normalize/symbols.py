"""Signs: one spelling of each before all is read, and what is left of them after."""

import re

from cosykit.synthesis.text.clean import plain_punctuation
from cosykit.synthesis.text.normalize.rules import Rule, rule
from cosykit.synthesis.text.scripts import CJK, LATIN

ONE_SPELLING: tuple[Rule, ...] = (
    rule(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!\d|,\d)", lambda m: m[0].replace(",", "")),
    rule(r"\b(?![HN]2O)([A-Z])2([A-Z])\b", r"\1 to \2"),
    rule(r"(?<=\d)( ?[kcdm]?m)([23])(?!\w|\.\d)", r"\1^\2"),
    rule(r"(?<=[$€£¥])\.(?=\d)", "0."),
    rule(r"===?", "="),
    rule(r"&&", "&"),
    rule(r"!=", "≠"),
    rule(r">=|≧|⩾", "≥"),
    rule(r"<=|≦|⩽", "≤"),
)
"""Rules for thousands separators and for signs of several characters."""

_LETTER = f"{LATIN}{CJK}0-9"
_SLASH = re.compile(
    f"(?<=[{_LETTER}]) ?/ ?(?=[{CJK}])|(?<=[{CJK}]) ?/ ?(?=[{_LETTER}])"
)
_PAUSE = re.compile(
    f"(?<=[{_LETTER}”)）])(?: ?(?:->|=>|[|→⇒↔~>]) ?| - )(?=[{_LETTER}“(（])"
)
_BETWEEN_ANGLES = re.compile("<([^<>]{1,64})>")
_UNSPOKEN = re.compile(f"[^{_LETTER}\\s，。！？；：、“”（）—…,.!?;:\"()'-]+")
_LOOSE = re.compile(f"(?<![{LATIN}])['-]|['-](?![{LATIN}])")
_BETWEEN_WORDS = re.compile(f"[{LATIN}0-9]")


def only_words(text: str, pause: str) -> str:
    """Leave words and punctuation, and drop the signs that nobody reads out.

    Args:
        text: Text whose numbers and signs with a reading have been written out.
        pause: What stands for arrows, bars and the like.
    """
    text = _BETWEEN_ANGLES.sub(r"\1", _SLASH.sub("、", text))
    text = _PAUSE.sub(pause, text)
    text = _UNSPOKEN.sub(_instead_of_sign, text)
    return plain_punctuation(_LOOSE.sub("", text))


def _instead_of_sign(sign: re.Match[str]) -> str:
    before = sign.string[sign.start() - 1 : sign.start()]
    after = sign.string[sign.end() : sign.end() + 1]
    parts_words = _BETWEEN_WORDS.match(before) and _BETWEEN_WORDS.match(after)
    return " " if parts_words else ""
