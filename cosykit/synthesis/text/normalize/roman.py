"""Roman numerals, where letters can hardly be anything else."""

import re

_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_NUMERAL = re.compile("(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")


def roman_value(numeral: str) -> int | None:
    """Read a numeral up to 99; None when the letters are none."""
    if not numeral or not _NUMERAL.fullmatch(numeral):
        return None
    values = [_VALUES[letter] for letter in numeral]
    following = [*values[1:], 0]
    return sum(
        -value if value < after else value
        for value, after in zip(values, following, strict=True)
    )


def in_digits(match: re.Match[str]) -> str:
    """Write the numeral in the first group of a match in digits."""
    value = roman_value(match.group(1))
    if value is None:
        return match.group()
    start, end = (place - match.start() for place in match.span(1))
    return f"{match.group()[:start]}{value}{match.group()[end:]}"
