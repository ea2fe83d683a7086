"""Numbers as Mandarin speaks them."""

LONGEST_CARDINAL = 16
"""Digits of the largest number that is read as one; longer ones are spelt."""

_DIGITS = "零一二三四五六七八九"
_SPELLING = str.maketrans("0123456789", _DIGITS)
_PHONE_SPELLING = str.maketrans("0123456789", "零幺二三四五六七八九")
_PLACES = ((1000, "千"), (100, "百"), (10, "十"), (1, ""))


def spell(digits: str) -> str:
    """Read digits one by one: 2024 as 二零二四."""
    return digits.translate(_SPELLING)


def spell_phone(digits: str) -> str:
    """Read digits one by one as on the telephone, with 幺 for 1."""
    return digits.translate(_PHONE_SPELLING)


def cardinal(digits: str) -> str:
    """Read a whole number: 20005 as 两万零五.

    Leading zeros, and more digits than `LONGEST_CARDINAL`, make it a code that is
    spelt.
    """
    if len(digits) > LONGEST_CARDINAL or (digits[0] == "0" and len(digits) > 1):
        return spell(digits)
    return _leading(int(digits)) or "零"


def number(text: str) -> str:
    """Read a whole or decimal number: 3.05 as 三点零五."""
    whole, _, decimals = text.partition(".")
    words = cardinal(whole or "0")
    return f"{words}点{spell(decimals)}" if decimals else words


def counted(text: str) -> str:
    """Read a number before a measure word: 2 as 两."""
    return "两" if text == "2" else number(text)


def _leading(value: int) -> str:
    words = _words(value)
    # 15 is 十五, but 115 is 一百一十五.
    return words.removeprefix("一") if words.startswith("一十") else words


def _words(value: int) -> str:
    for size, unit in ((10**8, "亿"), (10**4, "万")):
        if value >= size:
            high, low = divmod(value, size)
            words = ("两" if high == 2 else _leading(high)) + unit
            zero = "零" if 0 < low < size // 10 else ""
            return words + zero + _words(low)
    words, skipped = "", ""
    for place, unit in _PLACES:
        digit = value // place % 10
        if digit:
            two = digit == 2 and place == 1000
            words += skipped + ("两" if two else _DIGITS[digit]) + unit
        skipped = "零" if words and not digit else ""
    return words
