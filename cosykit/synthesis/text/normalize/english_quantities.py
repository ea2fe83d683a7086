"""Money, percentages, fractions, ranges, units and counts in English."""

import re
from collections.abc import Mapping

from cosykit.synthesis.text.normalize.english_numbers import (
    cardinal,
    fraction,
    number,
    ordinal,
    spell,
)
from cosykit.synthesis.text.normalize.rules import (
    NUMBER,
    NUMBER_START,
    SHORT_WORD_BEFORE_NUMBER,
    Rule,
    one_of,
    rule,
)
from cosykit.synthesis.text.normalize.units import CURRENCIES, UNITS, Unit

_SCALES: Mapping[str, str] = {
    "K": "thousand",
    "k": "thousand",
    "M": "million",
    "m": "million",
    "mn": "million",
    "B": "billion",
    "b": "billion",
    "bn": "billion",
    "T": "trillion",
    "thousand": "thousand",
    "million": "million",
    "billion": "billion",
    "trillion": "trillion",
}
# The hundredth of a currency, for amounts such as $3.50.
_CENTS: Mapping[str, tuple[str, str]] = {
    "dollar": ("cent", "cents"),
    "euro": ("cent", "cents"),
    "pound": ("penny", "pence"),
}
_PER: Mapping[str, str] = {
    "s": "second",
    "sec": "second",
    "min": "minute",
    "h": "hour",
    "hr": "hour",
    "d": "day",
    "wk": "week",
    "mo": "month",
    "yr": "year",
    "kg": "kilogram",
    "g": "gram",
    "lb": "pound",
    "L": "liter",
    "GB": "gigabyte",
} | {
    word: word
    for word in ("second", "minute", "hour", "day", "night", "week", "month", "year")
}
# A $20 bill is a twenty dollar bill.
_ARTICLE = re.compile(r"\b(?:an?|this|that|each) \Z")
_SCALE = rf"(?: ?(?P<scale>{one_of(_SCALES)})(?![A-Za-z\d]))?"
_CURRENCY = rf"(?P<currency>{one_of(CURRENCIES)})"
_UNIT = rf"({one_of(UNITS)})(?![A-Za-z]|-[A-Za-z]|')"
_RANGE = rf"(?P<first>{NUMBER})(?: to [¥$€£]?(?P<last>{NUMBER}))?"


def _name(unit: Unit, amount: str) -> str:
    return unit.singular if amount == "1" else unit.plural


def _money(match: re.Match[str]) -> str:
    first, last, scale = match["first"], match["last"], match["scale"]
    unit = CURRENCIES[match["currency"]]
    before = match.string[max(0, match.start() - 6) : match.start()]
    is_attribute = _ARTICLE.search(before) is not None
    if last or scale or (is_attribute and "." not in first):
        words = number(first) + (f" to {number(last)}" if last else "")
        words += f" {_SCALES[scale]}" if scale else ""
        return f"{words} {unit.singular if is_attribute else unit.plural}"
    whole, _, decimals = first.partition(".")
    cents = _CENTS.get(unit.singular.split()[-1])
    if len(decimals) != 2 or cents is None:
        return f"{number(first)} {_name(unit, first)}"
    parts = []
    if int(whole):
        parts.append(f"{cardinal(whole)} {_name(unit, whole)}")
    if int(decimals):
        amount = str(int(decimals))
        parts.append(f"{cardinal(amount)} {cents[amount != '1']}")
    return " and ".join(parts) or f"zero {unit.plural}"


def _percent(match: re.Match[str]) -> str:
    first, last, sign = match.groups()
    words = number(first) + (f" to {number(last)}" if last else "")
    return f"{words} {'percent' if sign == '%' else 'per mille'}"


def _fraction(match: re.Match[str]) -> str:
    whole, numerator, denominator = match.groups()
    numerator, denominator = (str(int(digits)) for digits in (numerator, denominator))
    if not whole and not _is_fraction(int(numerator), int(denominator)):
        joint = "out of" if int(numerator) < int(denominator) else "over"
        joint = "" if numerator == denominator else f"{joint} "
        return f"{cardinal(numerator)} {joint}{cardinal(denominator)}"
    words = fraction(numerator, denominator)
    if not whole:
        return words
    one = words.replace("one ", "a ", 1) if numerator == "1" else words
    return f"{cardinal(whole)} and {one}"


def _is_fraction(numerator: int, denominator: int) -> bool:
    if numerator == 1 or numerator > denominator > 10:
        return numerator == 1 < denominator
    if numerator == denominator:
        return False
    return 1 < denominator <= 16 or denominator in (20, 32, 64)


def _connector(match: re.Match[str]) -> str:
    first, unit, _ = match.groups()
    return f"{first}{unit} to "


def _measured(match: re.Match[str]) -> str:
    first, last, symbol = match.groups()
    words = number(first) + (f" to {number(last)}" if last else "")
    follows_unit = match.string[match.start() - 1 : match.start()].isalpha()
    return f"{' ' * follows_unit}{words} {_name(UNITS[symbol], last or first)}"


def _feet_and_inches(match: re.Match[str]) -> str:
    feet, inches = match.groups()
    return f"{cardinal(feet)} foot {cardinal(inches)}"


def _integer(match: re.Match[str]) -> str:
    digits = match.group()
    is_code = len(digits) > 9 and not digits.endswith("000")
    return spell(digits) if is_code else cardinal(digits)


RANGES: tuple[Rule, ...] = (
    rule(
        rf"(?<=\d) ?- ?(?={NUMBER}(?: ?(?:[-+×*÷/]|times) ?{NUMBER}){{0,9}} ?=)",
        " minus ",
    ),
    rule(
        rf"(?<![\w.])(?<![A-Za-z]-)({NUMBER})((?:[%°]|°?[A-Za-z]{{1,4}})?)"
        rf" ?[-~—] ?(?=[¥$€£-]?({NUMBER}))",
        _connector,
    ),
    rule(r"(?<![\w)-])-(?=[\d.$¥€£])", "minus "),
    rule(r"(?<![\w)+])\+(?=[\d.$¥€£])", "plus "),
    rule(r"(?<!\w)~ ?(?=[\d$¥€£])", "about "),
)
"""Rules for minus signs and for the dashes between numbers."""

RATIOS: tuple[Rule, ...] = (
    rule(
        rf"(?<![\w:.]){NUMBER}(?::{NUMBER})+(?![\d:])",
        lambda match: " to ".join(map(number, match.group().split(":"))),
    ),
)
"""Rules for scores and proportions; what is a time has been read by then."""

QUANTITIES: tuple[Rule, ...] = (
    rule(rf"(?<![A-Za-z]){_CURRENCY} ?{_RANGE}{_SCALE}", _money),
    rule(rf"{NUMBER_START}{_RANGE}{_SCALE} ?{_CURRENCY}(?![A-Za-z])", _money),
    rule(rf"{NUMBER_START}({NUMBER})%?(?: to ({NUMBER}))? ?([%‰])", _percent),
    rule(r"(?<=\d)¢", " cents"),
    rule(
        r"(?<=\d)x(?= (?:faster|slower|more|less|larger|bigger|better|as)\b)", " times"
    ),
    rule(r"(?<=\d)k(?= [a-z])", " thousand"),
    rule(r"(?<=\d)M(?= [a-z])", " million"),
    rule(r"(?<=\d)B(?= [a-z])", " billion"),
    rule(r"(\d{1,2})h ?(\d{1,2})m\b", r"\1h \2min"),
    rule(r"\b9/11\b", "nine eleven"),
    rule(r"\b24/7\b", "twenty-four seven"),
    rule(
        r"(?<![\w./])(?:(\d{1,4})[ -])?(\d{1,4})/(\d{1,4})(?:ths?|rds?)?"
        r"(?![\w/]|\.\d)",
        _fraction,
    ),
    rule(
        r"(?<![\w.])(\d{1,2})' ?(\d{1,2})(?:\"|''|)(?![\w'])",
        _feet_and_inches,
    ),
    rule(
        rf"(?<=[\w%])(?<!\d)/({one_of(_PER)})(?![A-Za-z])",
        lambda match: f" per {_PER[match[1]]}",
    ),
    rule(
        rf"{NUMBER_START}(?:(?<![A-Za-z-])|(?<=\dh)|(?<=\dmin))"
        rf"({NUMBER})(?: to ({NUMBER}))? ?{_UNIT}",
        _measured,
    ),
    rule(
        rf"{NUMBER_START}({NUMBER})-{_UNIT}",
        lambda match: f"{number(match[1])}-{UNITS[match[2]].singular}",
    ),
    rule(
        r"(?<![\w.])(\d{1,15})(?:st|nd|rd|th)\b",
        lambda match: ordinal(match[1]),
    ),
)
"""Rules for amounts with a sign or a unit."""

COUNTS: tuple[Rule, ...] = (
    rule(r"(?<!\w)#(\d{1,6})(?![\d.]\d)", r"number \1"),
    rule(SHORT_WORD_BEFORE_NUMBER, r"\1 "),
    rule(rf"{NUMBER_START}\d+\.\d+", lambda match: number(match.group())),
    rule(r"(?<![\w.])\.\d+", lambda match: number(match.group())),
    rule(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])", " "),
    rule(r"\d+", _integer),
)
"""Rules for plain numbers; no digit remains after them."""
