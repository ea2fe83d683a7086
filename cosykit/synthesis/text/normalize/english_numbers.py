"""Numbers as American English speaks them."""

LONGEST_CARDINAL = 15
"""Digits of the largest number that is read as one; longer ones are spelt."""

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"),
    *("seventeen", "eighteen", "nineteen"),
)
_TENS = (
    *("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy"),
    *("eighty", "ninety"),
)
_SCALES = ("trillion", "billion", "million", "thousand", "")
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


def spell(digits: str, zero: str = "zero") -> str:
    """Read digits one by one: 2024 as two zero two four."""
    return " ".join(zero if digit == "0" else _ONES[int(digit)] for digit in digits)


def cardinal(digits: str) -> str:
    """Read a whole number: 1234 as one thousand two hundred thirty-four.

    Leading zeros, and more digits than `LONGEST_CARDINAL`, make it a code that is
    spelt.
    """
    if len(digits) > LONGEST_CARDINAL or (digits[0] == "0" and len(digits) > 1):
        return spell(digits)
    value = int(digits)
    if value == 0:
        return _ONES[0]
    groups = [value // 1000**power % 1000 for power in range(4, -1, -1)]
    words = [
        f"{_below_thousand(group)} {scale}".rstrip()
        for group, scale in zip(groups, _SCALES, strict=True)
        if group
    ]
    return " ".join(words)


def number(text: str) -> str:
    """Read a whole or decimal number: 3.05 as three point zero five."""
    whole, _, decimals = text.partition(".")
    words = cardinal(whole) if whole else ""
    return f"{words} point {spell(decimals)}".lstrip() if decimals else words


def ordinal(digits: str) -> str:
    """Read a rank: 21 as twenty-first."""
    return _as_ordinal(cardinal(digits))


def fraction(numerator: str, denominator: str) -> str:
    """Read a fraction: 3/4 as three quarters."""
    one = numerator == "1"
    if denominator == "2":
        part = "half" if one else "halves"
    elif denominator == "4":
        part = "quarter" if one else "quarters"
    else:
        part = ordinal(denominator) + ("" if one else "s")
    return f"{cardinal(numerator)} {part}"


def year(digits: str) -> str:
    """Read a year of four digits: 1905 as nineteen oh five."""
    return cardinal(digits) if digits[1:3] == "00" else pairs(digits)


def decade(digits: str) -> str:
    """Read a decade or a century: 1990 as nineteen nineties."""
    words = year(digits) if len(digits) == 4 else cardinal(digits)
    return f"{words[:-1]}ies" if words.endswith("y") else f"{words}s"


def pairs(digits: str) -> str:
    """Read a code of three or four digits as people say it: 705 as seven oh five."""
    first, second = digits[:-2], digits[-2:]
    if digits.endswith("000"):
        return cardinal(digits)
    if digits[0] == "0" or not 1 <= len(first) <= 2:
        return spell(digits, "oh")
    if second == "00":
        return f"{cardinal(first)} hundred"
    if second[0] == "0":
        return f"{cardinal(first)} oh {_ONES[int(second[1])]}"
    return f"{cardinal(first)} {cardinal(second)}"


def _below_thousand(value: int) -> str:
    hundreds, rest = divmod(value, 100)
    words = [f"{_ONES[hundreds]} hundred"] if hundreds else []
    if rest >= 20:
        ones = f"-{_ONES[rest % 10]}" if rest % 10 else ""
        words.append(_TENS[rest // 10] + ones)
    elif rest:
        words.append(_ONES[rest])
    return " ".join(words)


def _as_ordinal(words: str) -> str:
    cut = max(words.rfind(" "), words.rfind("-")) + 1
    last = words[cut:]
    if last in _ORDINALS:
        return words[:cut] + _ORDINALS[last]
    return f"{words[:-1]}ieth" if last.endswith("y") else f"{words}th"
