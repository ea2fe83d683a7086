"""Dates and times in Mandarin."""

import re

from cosykit.synthesis.text.normalize.calendar import are_days, is_date, is_recent_year
from cosykit.synthesis.text.normalize.mandarin_numbers import cardinal, counted, spell
from cosykit.synthesis.text.normalize.rules import Rule, one_of, rule

PARTS_OF_DAY = one_of("凌晨 早上 早晨 上午 中午 下午 傍晚 晚上 夜里 次日 第二天")
_DASH = r" ?[-~—至到] ?"
_YEAR_MONTH = r"((?:19|20)\d\d)[./](1[0-2]|0?[1-9])"
_CLOCK = r"(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d)?"
# A round number of years between such words is a span of time, not a year.
_SPAN_BEFORE = re.compile(r"(?:近|约|有|过|经|达|历时|距今|已|整整)\Z")
_SPAN_AFTER = re.compile(r"(?:多|来|前|之久|以上|左右|的?(?:历史|文明|时间|岁月))")


def _plain(digits: str) -> str:
    return cardinal(str(int(digits)))


def _year_month_day(match: re.Match[str]) -> str:
    year, _, month, day = match.groups()
    if not is_date(month, day):
        return match.group()
    return f"{spell(year)}年{_plain(month)}月{_plain(day)}日"


def _day_and_year(match: re.Match[str]) -> str:
    month, day, year = match.groups()
    if int(month) > 12:
        month, day = day, month
    if not is_date(month, day):
        return match.group()
    return f"{spell(year)}年{_plain(month)}月{_plain(day)}日"


def _years(match: re.Match[str]) -> str:
    first, last, unit = match.groups()
    are_years = is_recent_year(first) and is_recent_year(last) and first < last
    if not (unit or are_years):
        return match.group()
    return f"{spell(first)}到{spell(last)}{unit or ''}"


def _months(match: re.Match[str]) -> str:
    first, first_month, last, last_month = match.groups()
    return f"{_month(first, first_month)}到{_month(last, last_month)}"


def _month(year: str, month: str) -> str:
    return f"{spell(year)}年{_plain(month)}月"


def _day(month: str, day: str) -> str:
    return f"{_plain(month)}月{_plain(day)}日"


def _days(match: re.Match[str]) -> str:
    month, day, last_month, last_day = match.groups()
    if not are_days(month, day, last_month, last_day):
        return match.group()
    return f"{_day(month, day)}到{_day(last_month, last_day)}"


def _days_of_year(match: re.Match[str]) -> str:
    year, _, *days = match.groups()
    month, day, last_month, last_day = days
    if not (is_date(month, day) and is_date(last_month, last_day)):
        return match.group()
    return f"{spell(year)}年{_day(month, day)}到{_day(last_month, last_day)}"


def _lifetime(match: re.Match[str]) -> str:
    first, last = match.groups()
    is_rough = first.endswith("0") and last.endswith("0")
    return match.group() if is_rough else f"{spell(first)}到{spell(last)}"


def _year(match: re.Match[str]) -> str:
    digits = match.group(1)
    before = match.string[max(0, match.start() - 2) : match.start()]
    is_round = digits.endswith("00")
    is_span = is_round and (
        _SPAN_BEFORE.search(before) or _SPAN_AFTER.match(match.string, match.end())
    )
    if is_span or not "1000" <= digits <= "2999":
        return f"{cardinal(digits)}年"
    return f"{spell(digits)}年"


def _decade(match: re.Match[str]) -> str:
    digits = match.group(1)
    return spell(digits) if len(digits) == 4 or digits[0] == "0" else cardinal(digits)


def _time(match: re.Match[str]) -> str:
    before, hour, minute, second, after = match.groups()
    words = _hour(hour, (before or after or "").lower())
    if second:
        return f"{words}{_padded(minute)}分{_padded(second)}秒"
    return words if minute == "00" else f"{words}{_padded(minute)}分"


def _full_hour(match: re.Match[str]) -> str:
    return _hour(match.group(1), match.group(2).lower())


def _hour(hour: str, half: str) -> str:
    value = int(hour)
    if half:
        if (half, value) == ("a", 12):
            value = 0
        return f"{_part_of_day(half, value)}{counted(str(value))}点"
    return f"{counted(str(value))}点"


def _part_of_day(half: str, hour: int) -> str:
    if half == "a":
        return "凌晨" if hour < 5 else "上午"
    if hour == 12:
        return "中午"
    return "下午" if hour < 6 else "晚上"


def _padded(digits: str) -> str:
    zero = "零" if 0 < int(digits) < 10 else ""
    return zero + _plain(digits)


DATES: tuple[Rule, ...] = (
    rule(
        r"(?<!\d)(\d{4}([-/.])\d{1,2}\2\d{1,2}) ?[-~—] ?(?=\d{4}\2\d{1,2}\2\d{1,2})",
        r"\1到",
    ),
    rule(
        r"(?<![\w.])(\d{4})([/.])(\d{1,2})\2(\d{1,2}) ?[-~—] ?(\d{1,2})\2(\d{1,2})"
        r"(?![\d/-]|\.\d)",
        _days_of_year,
    ),
    rule(
        r"(?<!\d)(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d|\.\d|[-/])"
        r"日?(?:T(?=\d)| (?=\d+:))?",
        _year_month_day,
    ),
    rule(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?![\d/])", _day_and_year),
    rule(
        rf"(?<![\d.])([12]\d{{3}})年?{_DASH}([12]\d{{3}})(?!\d|\.\d|[元万亿])(年)?",
        _years,
    ),
    rule(r"(?<=[年月日号]) ?[-~—] ?(?=\d{1,4}[年月日号])", "到"),
    rule(
        rf"(?<![\w/.])(\d{{1,2}})/(\d{{1,2}}){_DASH}(\d{{1,2}})/(\d{{1,2}})(?![\w/]|\.\d)",
        _days,
    ),
    # The life of somebody: 黄兴（1874-1916）
    rule(r"(?<=[（(])(\d{3,4}) ?[-~—] ?(\d{3}|1\d{3}|20\d\d)(?=[)）])", _lifetime),
    # 2014-15赛季, 1939-45
    rule(
        r"(?<![\w.])((?:1[89]|20)?\d\d)[-/](\d\d)(?=赛季|球季|学年|财年|年度)",
        lambda match: f"{spell(match[1])}到{spell(match[2])}",
    ),
    rule(
        r"(?<![\w.])((?:1[89]|20)\d\d)[-/](1[3-9]|[2-9]\d)(?![\d/%-]|\.\d)(年?)",
        lambda match: f"{spell(match[1])}到{spell(match[2])}{match[3]}",
    ),
    # Zeros tell a date from a fraction.
    rule(
        r"(?<![\w/])(0[1-9]|1[0-2])/(0[1-9]|[12]\d|3[01])(?![\w/])",
        lambda match: _day(match[1], match[2]),
    ),
    rule(
        rf"(?<![\d.]){_YEAR_MONTH} ?[-~—]? ?(?=至今)",
        lambda match: _month(match[1], match[2]),
    ),
    rule(rf"(?<![\d.]){_YEAR_MONTH}{_DASH}{_YEAR_MONTH}(?![\d.]|[元万亿%])", _months),
    rule(
        r"(?<![\d.])((?:19|20)\d\d)/(1[0-2]|0?[1-9])(?![\d/-]|月)",
        lambda match: _month(match[1], match[2]),
    ),
    rule(
        r"(?<![\d.])((?:19|20)\d\d)(?:-(?=0[1-9]|1[0-2])|\.(?=0[1-9]))(\d\d)"
        r"(?![\d./-]|[月元块倍万亿%])",
        lambda match: _month(match[1], match[2]),
    ),
    rule(r"(?<!\d)(\d{4}|\d{2})(?=年代)", _decade),
    rule(r"(?<!\d)(\d{4})年", _year),
    rule(
        r"(?<!\d)(\d{2}(?=年\d{1,2}月)|0\d(?=年)|9[1-9](?=年))",
        lambda match: spell(match.group(1)),
    ),
    rule(r"(?<!\d)0(\d)(?=[月日号])", r"\1"),
    rule(
        r"(?<![\d.])(\d{1,2})\.(\d{1,2})"
        r"(?=(?:国际)?(?:劳动|妇女|青年|儿童|购物)节|大促|假期|黄金周|事件|晚会|阅兵|惨案|运动|大?地震)",
        lambda match: spell(match[1]) + spell(match[2]),
    ),
    rule(
        r"(?<![\d·])(\d{1,2})·(\d{1,2})(?![\d·]| ?=)",
        lambda match: spell(match[1]) + spell(match[2]),
    ),
    rule(r"(?<!\d)(\d[05])(?=后(?!面|来|天|的))", lambda match: spell(match.group(1))),
)
"""Rules for dates and years."""

TIMES: tuple[Rule, ...] = (
    # Verses of a chapter.
    rule(r"(?<=\d:\d\d)-(?=\d{1,2}(?![\d:]))", "到"),
    rule(r"(?<=第)(\d{1,3})'(?:分钟)?", r"\1分钟"),
    rule(r"(?<=:\d\d)Z\b", " UTC"),
    rule(rf"(?<![\d:])({_CLOCK}) ?[-~—] ?(?={_CLOCK})", r"\1到"),
    rule(
        r"(?:\b([AaPp])[Mm] ?)?(?<![\d:.])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?"
        r"(?![\d:])(?: ?([AaPp])\.?[Mm]\b\.?)?(?:分(?!钟))?",
        _time,
    ),
    rule(r"(?<![\w:.])(1[0-2]|0?[1-9]) ?([AaPp])\.?[Mm]\b\.?", _full_hour),
    rule(
        r"(?<!\d)(\d{1,3})'(\d{1,2})(?:\"|'')",
        lambda match: f"{counted(match.group(1))}分{_padded(match.group(2))}秒",
    ),
)
"""Rules for times of day."""
