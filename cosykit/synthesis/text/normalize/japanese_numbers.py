"""Japanese numbers and counters, written in katakana as they are spoken.

What counts changes how the number sounds, and the other way round: 1本 is イッポン,
3本 サンボン, 4時 ヨジ, 4人 ヨニン, 8日 ヨーカ. Long vowels are written ー.
"""

_DIGITS = ("ゼロ", "イチ", "ニ", "サン", "ヨン", "ゴ", "ロク", "ナナ", "ハチ", "キュー")
_TENS = {100: "ヒャク", 1000: "セン"}
_IRREGULAR_HUNDREDS = {
    300: "サンビャク",
    600: "ロッピャク",
    800: "ハッピャク",
    3000: "サンゼン",
    8000: "ハッセン",
}
_MYRIADS = ("", "マン", "オク", "チョー", "ケー")
LARGEST = 10**20 - 1
"""The largest number with a reading of its own; longer ones are read as digits."""


def read_digits(digits: str) -> str:
    """Read a row of digits one by one, as in a telephone number."""
    return "".join(_DIGITS[int(digit)] for digit in digits)


def read_integer(value: int) -> str:
    """Read a number from 0 to `LARGEST`."""
    return "".join(_parts(value))


def read_decimal(whole: str, fraction: str) -> str:
    """Read a decimal number; `whole` and `fraction` are its digits."""
    integer = "レー" if int(whole) == 0 else read_integer(int(whole))
    if int(whole) % 10 in (0, 1, 8) and int(whole):
        integer = integer[:-1] + "ッ" if integer[-1] in "チー" else integer
    return integer + "テン" + read_digits(fraction)


def _parts(value: int) -> list[str]:
    """Read a number as the words that it is made of, 1 to 9 times a power of ten."""
    if value == 0:
        return [_DIGITS[0]]
    parts = []
    for exponent in reversed(range(len(_MYRIADS))):
        below_myriad = value // 10_000**exponent % 10_000
        if below_myriad:
            words = _below_myriad(below_myriad, after_myriad=exponent > 0)
            parts += [*words[:-1], _before_myriad(words[-1], _MYRIADS[exponent])]
    return parts


def _below_myriad(value: int, *, after_myriad: bool) -> list[str]:
    words = []
    for unit in (1000, 100, 10, 1):
        digit = value // unit % 10
        if digit:
            words.append(_word(digit, unit))
    if after_myriad and value == 1000:
        return ["イッセン"]
    return words


def _word(digit: int, unit: int) -> str:
    if unit == 1:
        return _DIGITS[digit]
    name = "ジュー" if unit == 10 else _TENS[unit]
    irregular = _IRREGULAR_HUNDREDS.get(digit * unit)
    return irregular or (name if digit == 1 else _DIGITS[digit] + name)


def _before_myriad(word: str, myriad: str) -> str:
    if (myriad in ("チョー", "ケー") and word in ("イチ", "ハチ")) or (
        myriad in ("チョー", "ケー") and word.endswith("ジュー")
    ):
        return word[:-1] + "ッ" + myriad
    return word + myriad
