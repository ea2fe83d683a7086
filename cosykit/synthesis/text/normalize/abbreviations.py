"""English abbreviations that end in a full stop; they stand in Chinese text too."""

import re
from collections.abc import Mapping

from cosykit.synthesis.text.normalize.rules import Rule, one_of, rule

# Before a name.
_TITLES: Mapping[str, str] = {
    "Mr": "Mister",
    "Mrs": "Missus",
    "Ms": "Ms",
    "Dr": "Doctor",
    "Prof": "Professor",
    "Gen": "General",
    "Sen": "Senator",
    "Rep": "Representative",
    "Gov": "Governor",
    "Pres": "President",
    "Capt": "Captain",
    "Lt": "Lieutenant",
    "Col": "Colonel",
    "Sgt": "Sergeant",
    "Rev": "Reverend",
    "Hon": "Honorable",
    "Mt": "Mount",
    "Ft": "Fort",
    "St": "Saint",
}
# After a name.
_SUFFIXES: Mapping[str, str] = {
    "Jr": "Junior",
    "Sr": "Senior",
    "Inc": "Incorporated",
    "Ltd": "Limited",
    "Co": "Company",
    "Corp": "Corporation",
    "Bros": "Brothers",
    "St": "Street",
    "Dr": "Drive",
    "Ave": "Avenue",
    "Blvd": "Boulevard",
    "Rd": "Road",
}
_WORDS: Mapping[str, str] = {
    "e.g": "for example",
    "i.e": "that is",
    "etc": "et cetera",
    "vs": "versus",
    "cf": "compare",
    "approx": "approximately",
    "dept": "department",
    "incl": "including",
    "viz": "namely",
    "tbsp": "tablespoons",
    "tsp": "teaspoons",
    "bldg": "building",
}
_BEFORE_NUMBERS: Mapping[str, str] = {
    "no": "number",
    "nos": "numbers",
    "fig": "figure",
    "figs": "figures",
    "vol": "volume",
    "ch": "chapter",
    "sec": "section",
    "eq": "equation",
    "ver": "version",
    "ext": "extension",
    "apt": "apartment",
    "ste": "suite",
    "p": "page",
    "pp": "pages",
}
MONTHS: Mapping[str, str] = {
    "Jan": "January",
    "Feb": "February",
    "Mar": "March",
    "Apr": "April",
    "Jun": "June",
    "Jul": "July",
    "Aug": "August",
    "Sep": "September",
    "Sept": "September",
    "Oct": "October",
    "Nov": "November",
    "Dec": "December",
}
_DAYS: Mapping[str, str] = {
    "Mon": "Monday",
    "Tue": "Tuesday",
    "Tues": "Tuesday",
    "Wed": "Wednesday",
    "Thu": "Thursday",
    "Thurs": "Thursday",
    "Fri": "Friday",
    "Sat": "Saturday",
    "Sun": "Sunday",
}

NEVER_FINAL = frozenset(
    map(str.lower, (*_TITLES, "e.g", "i.e", "vs", "cf", "approx", "fig", "vol"))
)
"""Abbreviations, in lower case, whose full stop never ends a sentence."""

_STARTERS = (
    "(?:The|An?|It|He|She|They|We|I|You|This|That|These|Those|There|In|On|At|By|But"
    "|And|Or|So|If|When|While|After|Before|However|Then|What|Why|How|Who|Where|As|For"
    r"|From|To|Its|His|Her|Their|My|Our|Your|No(?!\.)|Yes|Mister|Missus|Ms|Doctor)\b"
)
_SENTENCE_FOLLOWS = re.compile(rf"[\"”)]*(?:\s*\Z|\s+{_STARTERS})")


def _stop(abbreviation: re.Match[str]) -> str:
    """Keep the full stop where it ends the sentence as well."""
    ends = _SENTENCE_FOLLOWS.match(abbreviation.string, abbreviation.end())
    return "." if ends else ""


def _title(match: re.Match[str]) -> str:
    return _TITLES[match.group(1)]


def _suffix(match: re.Match[str]) -> str:
    return _SUFFIXES[match.group(1)] + _stop(match)


def _word(match: re.Match[str]) -> str:
    written = match.group(1)
    word = _WORDS[written.lower()]
    is_capital = written[0].isupper()
    stop = "" if written.lower() in NEVER_FINAL else _stop(match)
    return (word.capitalize() if is_capital else word) + stop


def _before_number(match: re.Match[str]) -> str:
    written = match.group(1)
    word = _BEFORE_NUMBERS[written.lower()]
    return word.capitalize() if written[0].isupper() else word


def _initials(match: re.Match[str]) -> str:
    letters = match.group().replace(".", "")
    is_time = letters.lower() in ("am", "pm")
    return (letters.upper() if is_time else letters) + _stop(match)


ABBREVIATIONS: tuple[Rule, ...] = (
    rule(
        rf"\b({one_of(_TITLES)})\. ?(?=[A-Z]|and [A-Z])",
        lambda match: f"{_title(match)} ",
    ),
    rule(rf"(?<=[A-Za-z] )({one_of(_SUFFIXES)})\.", _suffix),
    rule(r"\bet al\.", lambda match: f"and others{_stop(match)}"),
    rule(rf"(?i)\b({one_of(_WORDS)})\.", _word),
    rule(
        rf"(?i)\b({one_of(_BEFORE_NUMBERS)})\. ?(?=\d)",
        lambda match: f"{_before_number(match)} ",
    ),
    rule(rf"\b({one_of(MONTHS)})\.(?= ?\d|,)", lambda match: MONTHS[match.group(1)]),
    rule(
        rf"\b({one_of(_DAYS)})\.?[-–]({one_of(_DAYS)})\b\.?",
        lambda match: f"{_DAYS[match[1]]} to {_DAYS[match[2]]}",
    ),
    rule(
        rf"\b({one_of(_DAYS)})\.(?=,| \d| (?:{one_of(MONTHS)}))",
        lambda match: _DAYS[match.group(1)],
    ),
    # Units may be abbreviated too, but not every sentence with one goes on.
    rule(r"(?<=\d )in\.(?= [a-z]|,)", "inches"),
    rule(r"(?<=\d )(oz|lbs?|ft|mins?|hrs?|sec|mi|yd|gal)\.(?= [a-z]|,)", r"\1"),
    rule(r"\bPh\.D\.", lambda match: f"PhD{_stop(match)}"),
    rule(r"(?<![A-Za-z.])(?:[A-Za-z]\.){2,}", _initials),
    rule(rf"(?<![A-Za-z.])([A-HJ-Z])\.(?= (?!{_STARTERS})[A-Z](?:[a-z]+\b|\.))", r"\1"),
)
"""Rules that write abbreviations out."""
