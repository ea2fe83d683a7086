"""Numbers written in kanji, read together with what they count.

The dictionary reads 三本 as サン and ホン; people say サンボン. What number and counter
do to each other is known to `normalize.japanese_counters`, as for numbers in digits.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from cosykit.synthesis.text.japanese.lattice import Word
from cosykit.synthesis.text.normalize.japanese_counters import (
    COUNTERS,
    attach,
    count,
    last_word,
)
from cosykit.synthesis.text.normalize.japanese_numbers import read_digits, read_integer

_NUMERAL = "名詞,数"
_COUNTER = "名詞,接尾,助数詞"
_COUNTED = "名詞,数量"

_DIGITS = {kanji: value for value, kanji in enumerate("〇一二三四五六七八九")} | {
    "零": 0
}
_POWERS = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10**4, "億": 10**8, "兆": 10**12}
# Nobody writes out longer ones; they are read in stretches.
_WRITTEN_NUMBER = re.compile(f"[{''.join((*_DIGITS, *_POWERS, *_MYRIADS))}]{{1,20}}")

# How many is left open; 何 ends in n and changes what follows as サン and セン do.
_OPEN = {"何": ("ナン", 1000), "幾": ("イク", 0), "数": ("スー", 0)}
_PART = re.compile(f"[{''.join(_OPEN)}]|{_WRITTEN_NUMBER.pattern}")
_AFTER_NAN = {"ヒャク": "ビャク", "セン": "ゼン"}


def read_numerals(words: Iterable[Word]) -> list[Word]:
    """Join numerals in kanji, and the counter behind them, to one word each."""
    read: list[Word] = []
    for are_numerals, run in groupby(words, _is_numeral):
        if are_numerals:
            if read and read[-1].surface.endswith("分の"):
                read[-1] = _denominator(read[-1])
            surface = "".join(word.surface for word in run)
            read.append(Word(surface, _uncounted(surface), _NUMERAL))
            continue
        first, *others = run
        if read and _is_counter(first):
            numeral = read.pop()
            month = bool(read) and read[-1].surface.endswith("月")
            first = _counted(numeral, first, after_month=month)
        read += [first, *others]
    return read


def _is_numeral(word: Word) -> bool:
    return word.part_of_speech == _NUMERAL and _PART.fullmatch(word.surface) is not None


def _is_counter(word: Word) -> bool:
    # A longer one, such as 世紀, may be an ordinary noun as well.
    is_noun = len(word.surface) > 1 and word.surface in COUNTERS
    return is_noun or (word.part_of_speech == _COUNTER and word.pronunciation != "")


def _denominator(word: Word) -> Word:
    number, _ = _number(word.surface.removesuffix("分の"))
    return replace(word, pronunciation=f"{number}ブンノ")


def _counted(numeral: Word, counter: Word, *, after_month: bool) -> Word:
    number = numeral.surface
    if number == "零":
        return Word(number + counter.surface, f"レー{counter.pronunciation}", _COUNTED)
    known = _known_counter(counter.surface)
    reading = COUNTERS[known][0] if known else counter.pronunciation
    if known == "日" and number == "一" and after_month:
        words = "ツイタチ"
    elif _WRITTEN_NUMBER.fullmatch(number):
        words = count(_value(number), known or reading)
    else:
        words = attach(*_number(number), known or reading)
    # What the word has beyond the counter: 時間 is 時 and カン.
    is_longer = 0 < len(known) < len(counter.surface)
    rest = counter.pronunciation.removeprefix(reading) if is_longer else ""
    return Word(number + counter.surface, words + rest, _COUNTED)


def _known_counter(surface: str) -> str:
    beginnings = (surface[:length] for length in range(len(surface), 0, -1))
    return next((part for part in beginnings if part in COUNTERS), "")


def _uncounted(surface: str) -> str:
    """Read a numeral by itself; 五七五 counts nothing and is no 575."""
    if surface == "零":
        return "レー"
    if len(surface) > 1 and set(surface) <= set(_DIGITS):
        return read_digits("".join(str(_DIGITS[digit]) for digit in surface))
    return _number(surface)[0]


def _number(surface: str) -> tuple[str, int]:
    """Read a numeral; give the katakana and the last word as a number."""
    words, last = "", 0
    for part in _PART.findall(surface):
        if part in _OPEN:
            spoken, last = _OPEN[part]
        else:
            value = _value(part)
            spoken, last = read_integer(value), last_word(value)
            if words.endswith("ン"):
                spoken = _AFTER_NAN.get(spoken, spoken)
        words += spoken
    return words, last


def _value(kanji: str) -> int:
    if not set(kanji) & {*_POWERS, *_MYRIADS}:
        return int("".join(str(_DIGITS[digit]) for digit in kanji))
    total = below_myriad = digits = 0
    for char in kanji:
        if char in _DIGITS:
            digits = digits * 10 + _DIGITS[char]
        elif char in _POWERS:
            below_myriad += max(digits, 1) * _POWERS[char]
            digits = 0
        else:
            total += max(below_myriad + digits, 1) * _MYRIADS[char]
            below_myriad = digits = 0
    return total + below_myriad + digits
