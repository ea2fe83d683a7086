"""Telephone numbers, versions, model numbers and other codes in Mandarin."""

import re

from cosykit.synthesis.text.normalize.mandarin_numbers import (
    cardinal,
    number,
    spell,
    spell_phone,
)
from cosykit.synthesis.text.normalize.rules import (
    DOTTED_WITH_PORT,
    MODEL,
    MODEL_PART,
    NUMBER_END,
    Rule,
    one_of,
    rule,
)
from cosykit.synthesis.text.scripts import HAN

_PHONE_START = r"(?<![\w.-])"
# Before a number that is dialled or typed digit by digit.
_CODE_WORDS = one_of(
    "拨打 请拨 致电 热线 电话 手机 客服 传真 短号 分机 报警 QQ 微信 邮编 卡号 账号"
    " 帐号 密码 验证码 编号 学号 工号 单号 订单 订单号 身份证 身份证号 证件号 车牌"
    " 车牌号 房号 房间号 代码 序列号 群号 尾号 航班 航班号 车次 房间 波音 空客 端口 UID"
    " Q群 加群 会议号 腾讯会议: 腾讯会议： 直播间号 准考证号 流水号 取件码 提取码"
    " 邀请码 兑换码 激活码 星号 井号"
    " 電話 手機 熱線 傳真 帳號 密碼 驗證碼 編號 訂單 房間 代碼 會議號"
)
# Not in the middle of a word, as of userid.
_ID = r"(?<![\w-])(?:ID|Id|id)"
_CODE_SIGNS = r"[:：是为号 ]{0,3}|[(（](?=\d{6,}[)）])"
_CODE = r"(?:\d{3,}(?:[- ]\d{3,6}){0,5}|\d{2}(?: \d{2}){2,7})"
# After a number of three digits or more that names a thing.
_NAMED = one_of(
    "房间 房 室 号房 医院 航班 次航班 次列车 客机 飞机 高校 工程 工作制 事件"
    " 大促 购物节 邮箱 国道 省道 县道 路车 路公交 井号"
)
# What follows an amount instead of a code.
_COUNTED = "元块角平个万亿人部台分美年月天次"
# As well, though 房间301多少钱, 卡号1234余额 and 航班123起飞 name a thing.
_MANY = (
    "多(?!少)|余(?!额)|名(?![字称单])|位(?![于置])|起(?![飞降点])|例(?!如)|条(?!目)"
    "|行(?![李政])|份"
)
# What a number follows that may be negative.
_BEFORE_NEGATIVE = "是为到至达约比在得于和与或成超近降升了有加减乘以由从率值数温差度分"
# Those whose isotopes people speak of.
_ELEMENTS = "氢氦碳氮氧磷硫钾钴锶锝碘铯钋氡镭钍铀钚镅"
_EMERGENCY = "(1(?:10|19|20|22|14))"
# What an emergency number is for, and the number or several: 急救120, 报警电话110、119.
_EMERGENCY_WORD = (
    "(?:火警|匪警|消防|急救(?:中心)?|交通事故|报警|報警|电话|電話|[打拨撥])"
    "[:：是为為]{0,2} ?"
    "|交通[:：]?(?=122)"
)
_EMERGENCIES = "1(?:10|19|20|22)(?:[、/和或及与]1(?:10|19|20|22))*+"
_AFTER_EMERGENCY = one_of(
    "和 与 及 或 的 都 是 为 等 也 中心 指挥 电话 热线 平台 求助 救援"
    " 火警 匪警 消防 报警 急救 交通"
)
# Who numbers standards: GB/T 7714-2015, ISO/IEC 27001:2022.
_STANDARDS = r"GB|HJ|YY|QB|JB|DL|NB|JT|JGJ|CJJ|DB\d{0,2}|ISO|IEC|IEEE|EN|ASTM"
_SERVICE_NUMBERS = one_of("10086 10010 10000号 12306 12315 12333 12366 95588")


def _phone(match: re.Match[str]) -> str:
    groups = map(spell_phone, re.findall(r"转?\d+", match.group()))
    plus = "加" if match.group().startswith("+") else ""
    return plus + "，".join(groups)


def _grouped_mobile(match: re.Match[str]) -> str:
    country, *groups = match.groups()
    prefix = "加八六，" if country else ""
    return prefix + "，".join(map(spell_phone, groups))


def _named_code(match: re.Match[str]) -> str:
    code = re.sub(r"(?<=\d)[- ](?=\d)", "，", match.group(2))
    return match.group(1) + spell_phone(code)


def _chain(match: re.Match[str]) -> str:
    groups = match.group().split("-")
    if sum(map(len, groups)) > 6:
        return "，".join(map(spell_phone, groups))
    return "杠".join(
        spell(each) if len(each) > 2 else cardinal(each) for each in groups
    )


def dotted(text: str) -> str:
    """Read a version or an address of numbers: 2.0.1 as 二点零点一."""
    return "点".join(
        cardinal(group) if len(group) < 3 else spell(group) for group in text.split(".")
    )


def _dotted_with_port(match: re.Match[str]) -> str:
    address, port = match.groups()
    return dotted(address) + (f"冒号{spell(port)}" if port else "")


def model_digits(digits: str) -> str:
    """Read the digits of a model number: 380 as 三八零, 100 as 一百."""
    if "." in digits:
        return dotted(digits) if digits.count(".") > 1 else number(digits)
    is_short_or_round = len(digits) < 3 or (
        len(digits) < 5 and digits[1:].strip("0") == ""
    )
    return cardinal(digits) if is_short_or_round else spell(digits)


def _standard(match: re.Match[str]) -> str:
    body, standard, sign, year = match.groups()
    digits = "点".join(map(spell, standard.split(".")))
    return f"{body} {digits}{'杠' if sign == '-' else '，'}{spell(year)}"


def _model(match: re.Match[str]) -> str:
    parts = MODEL_PART.findall(match.group())
    if not any(part[0].isdigit() for part in parts):
        return match.group()
    words = ""
    for before, part, after in zip(["", *parts], parts, [*parts[1:], ""], strict=False):
        if part == "-":
            both_words = before.isalpha() and after.isalpha()
            both_numbers = not (before.isalpha() or after.isalpha())
            words += "-" if both_words else "，" if both_numbers else ""
        elif part == ".":
            words += "点"
        else:
            words += part if part.isalpha() else model_digits(part)
    return words


CODES: tuple[Rule, ...] = (
    rule(rf"(?:\b[Nn]o\. ?|(?<!\w)#)(\d{{1,6}})[号號]?{NUMBER_END}", r"\1号"),
    rule(
        rf"\b((?:{_STANDARDS})(?:/[A-Z]{{1,3}})?) ?"
        r"(\d{1,5}(?:\.\d{1,2})?)([-:])((?:19|20)\d\d)(?![\w.-])",
        _standard,
    ),
    rule(
        rf"{_PHONE_START}\d{{4}}(?:[- ]\d{{4}}){{2,}}(?:[- ]\d{{1,4}})?(?![-\d])",
        _phone,
    ),
    rule(
        rf"{_PHONE_START}(?:\(?(\+86|0086|86(?=[- )]))\)?[- ]?)?"
        r"(1[3-9]\d)[- ]?(\d{4})[- ]?(\d{4})(?!\d)",
        _grouped_mobile,
    ),
    rule(
        rf"(?:{_PHONE_START}|\()(?:0\d{{2,3}}\)?[- ]?\d{{3,4}}[- ]?\d{{4}}"
        r"(?:(?:-|转)\d{1,6})?)(?!\d)",
        _phone,
    ),
    rule(rf"{_PHONE_START}[48]00[- ]?\d{{3}}[- ]?\d{{4}}(?!\d)", _phone),
    rule(r"\+\d{1,3}(?:[- ]\(?\d{2,4}\)?){2,5}(?!\d)", _phone),
    rule(rf"{_PHONE_START}(?:1-)?\d{{3}}-\d{{3}}-\d{{4}}(?![\d-])", _phone),
    rule(r"(?<!\d)\d{3,6}\*{2,12}\d{2,4}(?!\d)", _phone),
    rule(
        rf"({_EMERGENCY_WORD})({_EMERGENCIES})"
        rf"(?:(?! ?[\w%‰°~+{HAN}-]|[、/.:]\d)|(?={_AFTER_EMERGENCY}))",
        _named_code,
    ),
    rule(
        rf"({_CODE_WORDS}|{_ID})((?:{_CODE_SIGNS}){_CODE})"
        rf"(?![%{_COUNTED}]|{_MANY}){NUMBER_END}",
        _named_code,
    ),
    rule(rf"(?<![\d.])()(\d{{3,}})(?={_NAMED})", _named_code),
    rule(rf"(?<=单元)()(\d{{3,4}})(?![\d{_COUNTED}户平])", _named_code),
    rule(rf"(?<![\d.])(){_EMERGENCY}(?=报警|急救|火警|热线|电话|查询)", _named_code),
    rule(r"(?<![\d.])()(119)(?=消防(?![员车队人栓]))", _named_code),
    rule(rf"(?<=[打拨])(){_EMERGENCY}(?![-\d.%次分{_COUNTED}]|、\d)", _named_code),
    rule(r"(?<=\b[GDCKTZ])()(\d{2,4})(?=次)", _named_code),
    rule(
        rf"(?:(?<=[歼轰{_ELEMENTS}])|(?<=东风)|(?<=长征)|(?<=神舟)|(?<=嫦娥)|(?<=米格))"
        r"-(?=\d)",
        "",
    ),
    # “伊-6”号, but 海拔-154米.
    rule(
        rf"(?<=[{HAN}])(?<![{_BEFORE_NEGATIVE}])-(?=\d{{1,4}}[”\"）)（(型号式的])",
        "",
    ),
    rule(r"(?<![\d.])()(985|211)(?=[、/和与及])", _named_code),
    rule(rf"(?<![\w.])()({_SERVICE_NUMBERS}){NUMBER_END}", _named_code),
    rule(
        rf"(?:(?<=[图表式])|(?<=[图表式][(（]))(\d{{1,3}})-(\d{{1,3}})(?![-\d{_COUNTED}])",
        r"\1杠\2",
    ),
    rule(r"(?<!\d)(\d{1,4})#(?=[楼栋座门机炉线井泵仓库汽柴])", r"\1号"),
    rule(r"(?<![\w.-])\d+(?:-\d+){2,}(?![\w-])", _chain),
    rule(DOTTED_WITH_PORT, _dotted_with_port),
    # A date in one go, such as 20240501, unless something is counted.
    rule(
        r"(?<![\w.,-])((?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))"
        rf"(?![-\w.,%次{_COUNTED}])",
        lambda match: spell(match[1]),
    ),
)
"""Rules for telephone numbers, versions and numbers that are spelt."""

MODELS: tuple[Rule, ...] = (
    rule(MODEL, _model),
    rule(
        rf"\b([A-Z]{{2,}} )(\d{{3,5}})(?![{_COUNTED}]){NUMBER_END}",
        lambda match: match.group(1) + model_digits(match.group(2)),
    ),
)
"""Rules for names of letters and digits."""
