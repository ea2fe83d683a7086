"""Telephone numbers, codes, dates, times and ranges in Japanese."""

import re

from cosykit.synthesis.text.normalize.calendar import are_days, is_date
from cosykit.synthesis.text.normalize.japanese_numbers import (
    mark_word,
    read_digits,
    read_integer,
)
from cosykit.synthesis.text.normalize.rules import Rule, one_of, rule

_CODE_START = r"(?<![\w.-])"
# Before a number that is typed or told digit by digit; and what tells that it counts.
_CODE_WORDS = one_of(
    "注文番号 会員番号 予約番号 受付番号 整理番号 伝票番号 追跡番号 問い合わせ番号"
    " 口座番号 暗証番号 社員番号 学籍番号 電話番号 管理番号 製造番号 認証コード"
    " 確認コード 暗証コード パスワード パスコード 内線"
)
_COUNTED = "円万億千人件名回個枚本台年月日時分秒階号番つ%"
_WEEKDAY = r"[（(]([月火水木金土日])(?:曜日?)?[)）]"


def _phone(match: re.Match[str]) -> str:
    groups = re.findall(r"\d+", match.group(), re.ASCII)
    plus = mark_word("プラス") if match.group().startswith("+") else ""
    return plus + "、".join(mark_word(read_digits(group)) for group in groups)


def _named_code(match: re.Match[str]) -> str:
    return match[1] + _phone(match)


def _postcode(match: re.Match[str]) -> str:
    return "郵便番号" + _phone(match)


def _address(match: re.Match[str]) -> str:
    numbers = match.group().split("-")
    return mark_word("ノ").join(mark_word(read_integer(int(n))) for n in numbers)


def _version(match: re.Match[str]) -> str:
    return mark_word(
        "テン".join(read_integer(int(n)) for n in match.group().split("."))
    )


def _year_month_day(match: re.Match[str]) -> str:
    year, _, month, day = match.groups()
    if not is_date(month, day):
        return match.group()
    return f"{year}年{int(month)}月{int(day)}日"


def _month_day(match: re.Match[str]) -> str:
    month, day, _ = match.groups()
    return f"{int(month)}月{int(day)}日" if is_date(month, day) else match.group()


def _days(match: re.Match[str]) -> str:
    month, day, last_month, last_day = match.groups()
    if not are_days(month, day, last_month, last_day):
        return match.group()
    first, last = f"{int(month)}月{int(day)}日", f"{int(last_month)}月{int(last_day)}日"
    return f"{first}から{last}"


def _time(match: re.Match[str]) -> str:
    hour, minute, second = match.groups()
    words = f"{int(hour)}時"
    if int(minute) or second:
        words += f"{int(minute)}分"
    return words + (f"{int(second)}秒" if second else "")


def _dash(match: re.Match[str]) -> str:
    """Read 3-5日 as a range, 3-1 as the numbers of an address."""
    first, second, counter = match.groups()
    rises = float(first) < float(second)
    return f"{first}から" if rises and counter else f"{first}の"


CODES: tuple[Rule, ...] = (
    rule(r"〒 ?\d{3}-?\d{4}(?!\d)", _postcode),
    rule(
        rf"(?:{_CODE_START}|(?<=\W))\(?0\d{{1,4}}\)?[- ]?\d{{1,4}}-\d{{3,4}}(?!\d)",
        _phone,
    ),
    rule(
        rf"((?:{_CODE_WORDS})[はが]?[:： ]?)\d{{2,16}}(?:-\d{{2,16}}){{0,5}}"
        rf"(?![\d{_COUNTED}]|[.,-]\d)",
        _named_code,
    ),
    rule(rf"{_CODE_START}\+\d{{1,3}}(?:[- ]\d{{1,4}}){{2,4}}(?!\d)", _phone),
    rule(rf"{_CODE_START}((?:19|20)\d\d)-(?=(?:19|20)\d\d(?![\d-]))", r"\1から"),
    rule(rf"{_CODE_START}\d{{3,4}}-\d{{4}}(?![\w-])", _phone),
    rule(r"(?<![\w.])[Nn]o\. ?(?=\d)", "ナンバー"),
    rule(
        r"(?<!\d)(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?![\d/-]|\.\d)",
        _year_month_day,
    ),
    rule(rf"{_CODE_START}(?<![\d/])(\d{{1,2}})/(\d{{1,2}})(?={_WEEKDAY})", _month_day),
    rule(
        rf"{_CODE_START}(?<![\d/])(\d{{1,2}})/(\d{{1,2}}) ?[~—-] ?"
        r"(\d{1,2})/(\d{1,2})(?![\w/]|\.\d)",
        _days,
    ),
    rule(r"(?<![\d.,])0(?=\d[年月日時分秒])", ""),
    rule(rf"(?<=日) ?{_WEEKDAY}", r"\1曜日"),
    rule(rf"{_CODE_START}\d{{1,9}}(?:-\d{{1,9}}){{2,9}}(?![\w-])", _address),
    rule(r"(?<![\d.])\d{1,9}(?:\.\d{1,9}){2,9}(?![\d.])", _version),
    rule(r"(?<![\d:.])([01]?\d|2[0-9]):([0-5]\d)(?::([0-5]\d))?(?![\d:])", _time),
    rule(
        r"\b((?:JIS|ISO|IEC|IEEE)(?:/[A-Z]{1,3})? ?[A-Z]? ?\d{1,5}(?:-\d{1,2})?):"
        r"(?=(?:19|20)\d\d(?!\d))",
        r"\1、",
    ),
    rule(r"(?<=\d):(?=\d)", "対"),
    rule(r"(?<=\d)-(?=\d{1,3}(?:で?[勝負敗完快]|で引き分|の[勝敗逆]))", "対"),
)
"""Rules for what only looks like a number or a sum."""

RANGES: tuple[Rule, ...] = (
    rule(r"(?<=[\d\u3041-\u30ff\u4e00-\u9fffA-Za-z%°)]) ?[~—] ?(?=[¥$€]?-?\d)", "から"),
    rule(r"(?<=[円年月日時分人回歳階])-(?=\d)", "から"),
    rule(r"(?<=[\d円年月日時分人回%])~(?=[、。，．！？…)）\s]|$)", "から"),
    rule(r"(?<=[\u30a1-\u30ff\u4e00-\u9fff])~(?=[\u30a1-\u30ff\u4e00-\u9fff])", "から"),
    rule(r"(?<=[\u3041-\u3096])~", "ー"),
    rule(
        r"(?<![\d.,-])(\d{1,9}(?:\.\d{1,3})?) ?- ?(?=(\d{1,9}(?:\.\d{1,3})?)(?![\d-])"
        r"([^\W\d_]|[%°\u3041-\u9fff])?)",
        _dash,
    ),
    rule(r"(?<![\w)）])[-−](?=[¥$€]?\d)", "マイナス"),
    # A loss, as accounts print it.
    rule(r"[▲△](?=[¥$€]?\d)", "マイナス"),
    rule(r"(?<![\w)）])\+(?=[¥$€]?\d)", "プラス"),
    rule(r"±", "プラスマイナス"),
)
"""Rules for the signs before and between numbers."""
