"""Telephone numbers, versions, model numbers and other codes in English."""

import re

from cosykit.synthesis.text.normalize.english_numbers import (
    cardinal,
    number,
    pairs,
    spell,
)
from cosykit.synthesis.text.normalize.rules import (
    DOTTED_WITH_PORT,
    MODEL,
    MODEL_PART,
    NUMBER_END,
    Rule,
    one_of,
    rule,
)

_PHONE_START = r"(?<![\w.-])"
# Before a number of three or four digits that is said in pairs.
_NAMED = one_of(
    "Boeing Airbus Flight flight Room room Route route Highway highway Interstate Suite"
    " suite Apartment Apt Bus bus Gate Unit Building Studio"
)
# Before a number that is typed digit by digit.
_CODE_WORDS = one_of("code Code password PIN pin zip ZIP extension ext dial OTP UID")
# Without a colon a short number may count: QQ 100 million users.
_ACCOUNT = "(?:QQ|ID|Id)"
_ACCOUNT_SIGN = r"(?: is)?[:：] ?| is (?=\d{4})| (?=\d{6}|\d{3}[- ]\d{3})"
# 3-year-old, 5-star: a quantity before a word.
_COMPOUND = re.compile(r"\d+(?:-[A-Za-z]{2,})+")


def _phone(match: re.Match[str]) -> str:
    groups = filter(None, re.split(r"\D+", match.group()))
    plus = "plus " if match.group().startswith("+") else ""
    return plus + ", ".join(
        "eight hundred" if group == "800" else spell(group) for group in groups
    )


def _spelt_groups(digits: str) -> str:
    return ", ".join(map(spell, re.split("[- ]", digits)))


def _chain(match: re.Match[str]) -> str:
    groups = match.group().split("-")
    if sum(map(len, groups)) > 6:
        return _spelt_groups(match.group())
    return " ".join(map(cardinal, groups))


def dotted(text: str) -> str:
    """Read a version or an address of numbers: 2.0.1 as two point zero point one."""
    groups = text.split(".")
    sign = " dot " if len(groups) == 4 else " point "
    return sign.join(
        cardinal(group) if len(group) < 3 else spell(group) for group in groups
    )


def _dotted_with_port(match: re.Match[str]) -> str:
    address, port = match.groups()
    return dotted(address) + (f" colon {spell(port)}" if port else "")


def model_digits(digits: str) -> str:
    """Read the digits of a model number: 380 as three eighty, 705 as seven oh five."""
    if "." in digits:
        return dotted(digits) if digits.count(".") > 1 else number(digits)
    if digits.strip("0") and digits[0] != "0":
        is_round = len(digits) == 3 and digits.endswith("00")
        if len(digits) < 3 or is_round:
            return cardinal(digits)
    return pairs(digits) if len(digits) in (3, 4) else spell(digits)


def _model(match: re.Match[str]) -> str:
    token = match.group()
    parts = MODEL_PART.findall(token)
    if not any(part[0].isdigit() for part in parts):
        return token
    if _COMPOUND.fullmatch(token):
        return cardinal(parts[0]) + token[len(parts[0]) :]
    words = []
    for part in parts:
        if part == ".":
            words.append("point")
        elif part != "-":
            words.append(part if part.isalpha() else model_digits(part))
    return " ".join(words)


CODES: tuple[Rule, ...] = (
    rule(r"\b[vV](?=\d)", "version "),
    rule(
        rf"{_PHONE_START}\+?1[- .]\(?\d{{3}}\)?[- .]\d{{3}}[- .]\d{{4}}(?![\d-])",
        _phone,
    ),
    rule(r"(?<![\w.-])(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-.]\d{4}(?![\d-])", _phone),
    rule(r"\+\d{1,3}(?:[- ]?\(?\d{2,4}\)?){2,5}(?!\d)", _phone),
    rule(rf"{_PHONE_START}\d{{3}}-\d{{4}}(?![\d-])", _phone),
    # 1-800-FLOWERS
    rule(
        rf"{_PHONE_START}1-(8\d\d)-(?=[A-Z]{{3}})", lambda m: f"one {cardinal(m[1])} "
    ),
    rule(
        rf"\b({_CODE_WORDS})((?: is)?:? )(\d{{3,16}}){NUMBER_END}",
        lambda match: match[1] + match[2] + spell(match[3]),
    ),
    rule(
        rf"\b({_ACCOUNT}(?: number)?)({_ACCOUNT_SIGN})"
        rf"(\d{{3,16}}(?:[- ]\d{{3,6}}){{0,5}})(?![-%A-Za-z]){NUMBER_END}",
        lambda match: match[1] + match[2] + _spelt_groups(match[3]),
    ),
    rule(
        rf"\b({_NAMED}) (?:No\. ?)?(\d{{3,4}}){NUMBER_END}",
        lambda match: f"{match[1]} {pairs(match[2])}",
    ),
    rule(
        r"\b(?:call|dial|Call|Dial) (\d{3})(?!\d)",
        lambda m: f"{m[0][:-3]}{spell(m[1])}",
    ),
    rule(rf"(?<![\w.-])911{NUMBER_END}", "nine one one"),
    rule(r"(?<![\w.-])\d+(?:-\d+){2,}(?![\w-])", _chain),
    rule(DOTTED_WITH_PORT, _dotted_with_port),
)
"""Rules for telephone numbers, versions and numbers that are spelt."""

MODELS: tuple[Rule, ...] = (
    rule(MODEL, _model),
    rule(
        rf"\b([A-Z]{{2,}} )(\d{{3,5}}){NUMBER_END}",
        lambda match: match[1] + model_digits(match[2]),
    ),
)
"""Rules for names of letters and digits."""
