"""Dates and times in English."""

import re

from cosykit.synthesis.text.normalize.abbreviations import MONTHS
from cosykit.synthesis.text.normalize.calendar import is_date, is_recent_year
from cosykit.synthesis.text.normalize.english_numbers import (
    cardinal,
    decade,
    ordinal,
    year,
)
from cosykit.synthesis.text.normalize.rules import Rule, one_of, rule

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_MONTH = rf"\b({one_of([*_MONTHS, *MONTHS])})\.?"
_YEAR = r"([12]\d{3})(?![\d:]|,\d|\.\d)"
# Zeros tell a date from a fraction.
_SLASHED = r"(?:0[1-9]|1[0-2])/(?:0[1-9]|[12]\d|3[01])"
_CLOCK = r"(?:[01]?\d|2[0-4]):[0-5]\d"
_YEAR_BEFORE = (
    r"\b(?:[Ii]n|[Ss]ince|[Bb]y|[Uu]ntil|[Tt]ill|[Yy]ear|[Cc]irca|[Dd]uring|[Bb]efore"
    r"|[Aa]fter|[Ff]rom|[Ss]pring|[Ss]ummer|[Ff]all|[Aa]utumn|[Ww]inter|©)"
)


def _ordinal(digits: str) -> str:
    return ordinal(str(int(digits)))


def _month(written: str) -> str:
    return MONTHS.get(written, written)


def _spoken_date(written_year: str, month: str, day: str) -> str | None:
    if not is_date(month, day):
        return None
    return f"{_MONTHS[int(month) - 1]} {_ordinal(day)}, {year(written_year)}"


def _iso_date(match: re.Match[str]) -> str:
    written_year, _, month, day = match.groups()
    date = _spoken_date(written_year, month, day)
    return (
        f"{date} at " if date and match.group().endswith("T") else date or match.group()
    )


def _american_date(match: re.Match[str]) -> str:
    month, _, day, written_year = match.groups()
    if int(month) > 12:
        month, day = day, month
    return _spoken_date(written_year, month, day) or match.group()


def _month_and_day(match: re.Match[str]) -> str:
    month, day, last, written_year = match.groups()
    if not 1 <= int(day) <= 31:
        return match.group()
    words = f"{_month(month)} {_ordinal(day)}"
    if last:
        words += f" to {_ordinal(last)}"
    return f"{words}, {year(written_year)}" if written_year else words


def _day_and_month(match: re.Match[str]) -> str:
    day, month, written_year = match.groups()
    if not 1 <= int(day) <= 31:
        return match.group()
    words = f"the {_ordinal(day)} of {_month(month)}"
    return f"{words}, {year(written_year)}" if written_year else words


def _years(match: re.Match[str]) -> str:
    first, last = match.groups()
    if len(last) == 2:
        last = first[:2] + last
    if not (is_recent_year(first) and is_recent_year(last) and first < last):
        return match.group()
    return f"{year(first)} to {year(last)}"


def _bare_year(match: re.Match[str]) -> str:
    return year(match.group()) if is_recent_year(match.group()) else match.group()


def _month_slash_day(match: re.Match[str]) -> str:
    month, day = match.group().split("/")
    return f"{_MONTHS[int(month) - 1]} {_ordinal(day)}"


def _time(match: re.Match[str]) -> str:
    hour, minute, second, half = match.groups()
    words = cardinal(str(int(hour)))
    if minute != "00":
        words += (
            f" oh {cardinal(minute[1])}" if minute[0] == "0" else f" {cardinal(minute)}"
        )
    elif not half and not second:
        words = _full_hour(int(hour))
    if second and int(second):
        noun = "second" if int(second) == 1 else "seconds"
        words += f" and {cardinal(str(int(second)))} {noun}"
    return f"{words} {half.upper()}M" if half else words


def _full_hour(hour: int) -> str:
    if hour in (0, 24):
        return "midnight"
    return cardinal(str(hour)) + (" hundred" if hour > 12 else " o'clock")


def _hours(match: re.Match[str]) -> str:
    first, last, half = match.groups()
    words = cardinal(str(int(first))) + (f" to {cardinal(last)}" if last else "")
    return f"{words} {half.upper()}M"


DATES: tuple[Rule, ...] = (
    rule(
        r"(?<!\d)(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d|\.\d|[-/])(?:T(?=\d))?",
        _iso_date,
    ),
    rule(r"(?<![\d/])(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?![\d/])", _american_date),
    rule(rf"(?<![\w/])({_SLASHED}) ?[-~—] ?(?={_SLASHED}(?![\w/]))", r"\1 to "),
    rule(rf"(?<![\w/]){_SLASHED}(?![\w/])", _month_slash_day),
    rule(
        rf"({_MONTH} ?\d{{1,2}}(?:st|nd|rd|th)?(?:, \d{{4}})?) ?[-~—] ?"
        rf"(?={_MONTH} ?\d)",
        r"\1 to ",
    ),
    rule(
        rf"{_MONTH} ?(\d{{1,2}})(?:st|nd|rd|th)?(?![\d:]|\.\d|,\d| ?[ap]\.?m)"
        rf"(?: ?[-~—] ?(\d{{1,2}})(?:st|nd|rd|th)?(?!\d))?(?:,? {_YEAR})?",
        _month_and_day,
    ),
    rule(
        rf"(?<![\w.])(?:[Tt]he )?(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}"
        rf"(?:,? {_YEAR})?(?![a-z])",
        _day_and_month,
    ),
    rule(rf"{_MONTH},? {_YEAR}", lambda match: f"{_month(match[1])} {year(match[2])}"),
    rule(r"(?<![\w.$€£¥])([12]\d{3}) ?[-~—] ?(\d{4}|\d\d)(?![\w%]|[.,]\d)", _years),
    rule(
        r"(?:(?<![\w.])|(?<=\bmid-))((?:1[1-9]|20)\d0)'?s\b|"
        r"(?:'|(?<=\bthe )|(?<=mid-)|(?<=early )|(?<=late ))([2-9]0)'?s\b",
        lambda match: decade(match[1] or match[2]),
    ),
    rule(
        rf"({_YEAR_BEFORE} )(1[1-9]\d\d|20\d\d)(?![\d%]|[.,:]\d| ?[a-z]+s\b)",
        lambda match: match[1] + year(match[2]),
    ),
    rule(r"(?<![\w.$€£¥#-])\d{4}(?![\w%°]|[.,:]\d)", _bare_year),
)
"""Rules for dates and years."""

TIMES: tuple[Rule, ...] = (
    rule(r"(?<=:\d\d)Z\b", " UTC"),
    rule(rf"(?<![\d:])({_CLOCK}) ?[-~—] ?(?={_CLOCK})", r"\1 to "),
    rule(
        r"(?:(?<=[\d ][AaPp]M)|(?<=[\d ][ap]m)|(?<=[ap]\.m\.)) ?[-~—] ?(?=\d)", " to "
    ),
    rule(
        r"(?<![\d:.])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?![\d:])"
        r"(?: ?([AaPp])\.?[Mm]\b)?",
        _time,
    ),
    rule(
        r"(?<![\w:.])(1[0-2]|0?[1-9])(?: ?[-~—] ?(1[0-2]|[1-9]))? ?([AaPp])\.?[Mm]\b",
        _hours,
    ),
)
"""Rules for times of day."""
