"""Write out numbers and the signs beside them in Korean text.

Words stay as they are. Numbers have two sets of names: 3월 is 삼월, 3개 is 세 개.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from cosykit.synthesis.text.formulas import MINUS
from cosykit.synthesis.text.normalize.rules import (
    NUMBER,
    NUMBER_END,
    NUMBER_START,
    Rule,
    one_of,
    rewrite,
    rule,
)

_DIGITS = "영일이삼사오육칠팔구"
_SPELT = str.maketrans(dict(zip("0123456789", "공일이삼사오육칠팔구", strict=True)))
_POWERS = ((1000, "천"), (100, "백"), (10, "십"))
_MYRIADS = ("", "만", "억", "조", "경")
_MOST_DIGITS = 4 * len(_MYRIADS)

_NATIVE = ("", "한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉")
_NATIVE_TENS = (
    *("", "열", "스물", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔"),
)
# What is counted with native numbers, and what only begins like it.
_NATIVE_COUNTERS = (
    "개(?![월국년])|명|살|마리|잔|병(?!원)|권|장(?!관)|시간|달(?!러)|가지|사람|송이"
    "|켤레|그루|채(?!널)|벌|곳|군데|줄|바퀴|끼|번째"
)
_HOUR = "시(?![간즌리스그])"
_MONTHS = MappingProxyType({6: "유", 10: "시"})

_UNITS: Mapping[str, str] = MappingProxyType(
    {
        **{"km": "킬로미터", "m": "미터", "cm": "센티미터", "mm": "밀리미터"},
        **{
            "kg": "킬로그램",
            "g": "그램",
            "mg": "밀리그램",
            "L": "리터",
            "ml": "밀리리터",
        },
        **{"km^2": "제곱킬로미터", "m^2": "제곱미터", "cm^2": "제곱센티미터"},
        **{"m^3": "세제곱미터", "cm^3": "세제곱센티미터"},
        **{"km/h": "시속 킬로미터", "m/s": "초속 미터", "mmHg": "밀리미터에이치지"},
        **{"GB": "기가바이트", "MB": "메가바이트"},
        **{"°C": "도", "°F": "화씨 도", "°": "도", "%": "퍼센트", "$": "달러"},
        **{"€": "유로", "£": "파운드", "¥": "엔", "₩": "원"},
    }
)
_CURRENCIES = "$€£¥₩"
# What formulas are written with.
_SIGN_NAMES = str.maketrans(
    {
        MINUS: " 빼기 ",
        "÷": " 나누기 ",
        "×": " 곱하기 ",
        "±": " 플러스 마이너스 ",
        "√": "루트 ",
        "≤": " 작거나 같다 ",
        "≥": " 크거나 같다 ",
        "≠": " 같지 않다 ",
        "≈": " 약 ",
        "∞": "무한대",
        "∑": "시그마 ",
        "∫": "적분 ",
        "π": "파이",
    }
)
# Before a number that is told digit by digit.
_CODE_WORDS = one_of(
    "주문번호 예약번호 접수번호 회원번호 계좌번호 송장번호 운송장번호 우편번호"
    " 비밀번호 인증번호 확인번호 전화번호 사업자번호 인증코드 비번 학번 사번 내선"
)
_UNIT = rf"({one_of(_UNITS)})(?![A-Za-z])"


def normalize_korean(text: str) -> str:
    """Write numbers, dates, units and amounts as Korean speaks them.

    Line breaks are not expected.
    """
    return re.sub(" {2,}", " ", rewrite(text, _RULES).translate(_SIGN_NAMES))


def read_integer(value: int) -> str:
    """Read a number below 10**20 with the names that came from Chinese."""
    return " ".join(_groups(value)) or _DIGITS[0]


def read_native(value: int) -> str:
    """Read a number from 1 to 99 as it stands before what it counts."""
    if value == 20:
        return "스무"
    return _NATIVE_TENS[value // 10] + _NATIVE[value % 10]


def _groups(value: int) -> Iterator[str]:
    for power, myriad in reversed(list(enumerate(_MYRIADS))):
        group = value // 10_000**power % 10_000
        if group:
            # Ten thousand alone is 만, a hundred million alone 일억.
            is_plain = group == 1 and myriad == "만"
            yield ("" if is_plain else _below_myriad(group)) + myriad


def _below_myriad(value: int) -> str:
    words = ""
    for power, name in _POWERS:
        digit = value // power % 10
        if digit:
            words += ("" if digit == 1 else _DIGITS[digit]) + name
    return words + (_DIGITS[value % 10] if value % 10 else "")


def _spell(digits: str) -> str:
    return digits.translate(_SPELT)


def _spell_groups(digits: str) -> str:
    return ", ".join(map(_spell, digits.split("-")))


def _number(number: str) -> str:
    whole, _, fraction = number.partition(".")
    if not fraction:
        is_code = len(whole) > 1 and whole[0] == "0"
        return _spell(whole) if is_code else _integer(whole)
    decimals = "".join(_DIGITS[int(digit)] for digit in fraction)
    return f"{_integer(whole)} 점 {decimals}"


def _integer(digits: str) -> str:
    return _spell(digits) if len(digits) > _MOST_DIGITS else read_integer(int(digits))


def _count(match: re.Match[str]) -> str:
    value, counter = int(match[1]), match[2]
    if counter == "번째" and value == 1:
        return "첫 번째"
    return f"{read_native(value)} {counter}" if value else f"{_DIGITS[0]} {counter}"


def _hour(match: re.Match[str]) -> str:
    value = int(match[1])
    name = read_native(value) if 1 <= value <= 12 else read_integer(value)
    return f"{name} {match[2]}"


def _month(match: re.Match[str]) -> str:
    value = int(match[1])
    return f"{_MONTHS.get(value) or read_integer(value)}월"


def _fraction(match: re.Match[str]) -> str:
    numerator, denominator = match.groups()
    if int(numerator) >= int(denominator):
        return match.group()
    return f"{denominator}분의 {numerator}"


def _measure(match: re.Match[str]) -> str:
    return _with_unit(_number(match[1]), match[2])


def _power(match: re.Match[str]) -> str:
    factor, base, sign, exponent, unit = match.groups()
    words = f"{_number(factor)} 곱하기 " if factor else ""
    words += f"{_number(base)}의 {'마이너스 ' if sign else ''}{_number(exponent)}제곱"
    return _with_unit(words, unit) if unit else words


def _with_unit(words: str, symbol: str) -> str:
    # 시속 and 화씨 stand before the number.
    *before, name = _UNITS[symbol].split()
    return " ".join([*before, words, name])


_RULES: tuple[Rule, ...] = (
    rule(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!\d|,\d)", lambda m: m[0].replace(",", "")),
    rule(
        rf"((?:{_CODE_WORDS})[은는이가]?[:：]? ?)(\d{{2,16}}(?:-\d{{2,16}}){{0,4}})"
        r"(?![\d자회번개명]|[.,-]\d)",
        lambda m: m[1] + _spell_groups(m[2]),
    ),
    # Telephone numbers, and dates with hyphens.
    rule(
        r"(?<![\w.-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?![\w/-]|\.\d)",
        lambda m: f"{int(m[1])}년 {int(m[3])}월 {int(m[4])}일",
    ),
    rule(
        r"(?<![\w.-])\d{2,4}-\d{3,4}(?:-\d{4})?(?![\w-])", lambda m: _spell_groups(m[0])
    ),
    rule(
        rf"{NUMBER_START}([01]?\d|2[0-3]):([0-5]\d){NUMBER_END}",
        lambda m: f"{int(m[1])}시 {int(m[2])}분" if int(m[2]) else f"{int(m[1])}시",
    ),
    rule(r"(?<![\d:])(\d{1,4}):(\d{1,4})(?![\d:])", r"\1 대 \2"),
    rule(r"(?<=일) ?\(([월화수목금토일])(?:요일)?\)", r" \1요일"),
    rule(rf"{NUMBER_START}(\d{{2,3}})/(?=\d{{2,3}} ?mmHg)", r"\1에 "),
    rule(
        rf"{NUMBER_START}(\d{{1,6}}[회번])/(초|분|시간|일)(?![\uac00-\ud7a3])",
        r"\2당 \1",
    ),
    rule(r"(?<![\w./])(\d{1,3})/(\d{1,4})(?![\w/]|\.\d)", _fraction),
    rule(r"(?<=\d) ?- ?(?=\d+ ?=)", " 빼기 "),
    rule(rf"(?<![\w.)^-])-(?={NUMBER})", "마이너스 "),
    rule(r"(?<=\d) ?\+ ?(?=\d)", " 더하기 "),
    rule(rf"(?<![\w.)+])\+(?={NUMBER})", "플러스 "),
    rule(
        rf"{NUMBER_START}(?:({NUMBER}) ?[×*] ?)?"
        rf"(\d{{1,4}})\^(-?)(\d{{1,3}})(?: ?{_UNIT})?",
        _power,
    ),
    rule(r"(?<=\d) ?[×*] ?(?=\d)", " 곱하기 "),
    rule(r"(?<=\d) ?÷ ?(?=\d)", " 나누기 "),
    # The particle goes with the sound of the last digit.
    rule(r"(?<=[013678]) ?= ?(?=[\d마])", "은 "),
    rule(r"(?<=[2459]) ?= ?(?=[\d마])", "는 "),
    rule(
        r"(?:(?<=[\d%\uac00-\ud7a3])|(?<=°[CF])) ?[~∼] ?(?=(?:오[전후] ?)?\d)",
        "에서 ",
    ),
    rule(
        rf"{NUMBER_START}(\d{{1,3}})-"
        r"(?=\d{1,3}(?:으?로)? ?(?:승|패|이[기겼긴]|비[기겼긴]|졌|앞))",
        r"\1 대 ",
    ),
    rule(rf"{NUMBER_START}({NUMBER})-(?={NUMBER}[%\uac00-\ud7a3])", r"\1에서 "),
    rule(rf"([{_CURRENCIES}]) ?({NUMBER}{NUMBER_END})", r"\2\1"),
    rule(rf"{NUMBER_START}({NUMBER}) ?{_UNIT}", _measure),
    rule(r"(?<=[A-Za-z])\^2(?!\d)", " 제곱"),
    rule(r"(?<=[A-Za-z])\^3(?!\d)", " 세제곱"),
    rule(r"\^\(([^()]{1,40})\)", r"의 \1제곱"),
    rule(rf"{NUMBER_START}(0?[1-9]|1[0-2])월", _month),
    rule(rf"{NUMBER_START}([01]?\d|2[0-4]) ?({_HOUR})", _hour),
    rule(rf"{NUMBER_START}(\d{{1,2}}) ?({_NATIVE_COUNTERS})", _count),
    rule(rf"(?<![A-Za-z\d]){NUMBER}", lambda m: _number(m[0])),
)
