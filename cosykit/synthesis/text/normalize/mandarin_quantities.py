"""Money, percentages, fractions, ranges, units and counts in Mandarin."""

import re
from collections.abc import Mapping
from decimal import Decimal

from cosykit.synthesis.text.normalize.calendar import is_recent_year
from cosykit.synthesis.text.normalize.mandarin_dates import PARTS_OF_DAY
from cosykit.synthesis.text.normalize.mandarin_numbers import (
    cardinal,
    counted,
    number,
    spell,
)
from cosykit.synthesis.text.normalize.rules import (
    NUMBER,
    NUMBER_END,
    NUMBER_START,
    SHORT_WORD_BEFORE_NUMBER,
    Rule,
    one_of,
    rule,
)
from cosykit.synthesis.text.normalize.units import CURRENCIES, UNITS
from cosykit.synthesis.text.scripts import HAN

_MEASURES = one_of(
    "小时 分钟 公里 千米 厘米 毫米 微米 千克 公斤 毫升 毫克 平方 立方 英里 英尺 英寸"
    " 海里 星期 礼拜 世纪 美元 欧元 英镑 日元 港元 周年 个 只 条 本 次 天 周 秒 人 位"
    " 名 块 元 角 毛 米 里 斤 克 吨 升 倍 成 种 件 张 台 辆 家 岁 碗 杯 瓶 盒 包 袋"
    " 箱 片 颗 粒 朵 棵 头 匹 把 双 对 副 套 组 批 群 排 句 段 篇 章 页 集 部 首 幅"
    " 座 栋 间 层 扇 面 根 支 枝 枚 门 架 艘 场 顿 趟 遍 回 番 下 口 笔 项 份 封 则"
    " 道 滴 股 阵 节 步 桌 室 厅 度 万 亿 千 百 代 队 国 手 边 侧 地 者 季 亩 顷 尺"
    " 寸 丈 撮 串 捆 束 堆 帧"
    " 小時 分鐘 公釐 英哩 英呎 英吋 禮拜 週 個 條 隻 塊 種 張 臺 輛 歲 頭"
    " 雙 對 組 頁 間 層 門 場 頓 趟 筆 項 則 陣 節 億 萬 國 邊 側 畝 頃 捲 隊 幀"
)
# 2年 is 两年 and 2分 两分, but 2年级 is 二年级 and 2分之1 二分之一.
_MEASURE = (
    rf"(?:{_MEASURES}|年(?![级級代])|[点點](?!\d)|分(?!之)|卷|站(?![台臺点點长長]))"
)
_WEEKDAYS = "一二三四五六日天末1-6"
_NOT_ORDINAL = r"(?<![\d.第初])"

_SCALES: Mapping[str, int] = {
    "K": 3,
    "k": 3,
    "M": 6,
    "mn": 6,
    "million": 6,
    "B": 9,
    "bn": 9,
    "billion": 9,
    "T": 12,
    "trillion": 12,
}
_CHINESE_SCALES = one_of("十 百 千 万 十万 百万 千万 亿 百亿 千亿 万亿")
_SCALE = (
    rf"(?:(?P<scale>{_CHINESE_SCALES})| ?(?P<latin>{one_of(_SCALES)})(?![A-Za-z\d]))?"
)
_CURRENCY = rf"(?P<currency>{one_of(CURRENCIES)})"
_UNIT = rf"({one_of(UNITS)})(?![A-Za-z])"


def _amount(text: str) -> str:
    """Drop the zeros that only prices are written with: 3.50, 20.00."""
    whole, _, decimals = text.partition(".")
    decimals = decimals.rstrip("0") if len(decimals) == 2 else decimals
    return f"{whole}.{decimals}" if decimals else whole


def _money(match: re.Match[str]) -> str:
    first, last = match["first"], match["last"]
    name = CURRENCIES[match["currency"]].mandarin
    scale = match["scale"] or ""
    if match["latin"]:
        first, last = (
            str(int(Decimal(text) * 10 ** _SCALES[match["latin"]])) if text else text
            for text in (first, last)
        )
    amounts = [counted(_amount(text)) for text in (first, last) if text]
    return f"{'到'.join(amounts)}{scale}{name}"


def _percent(match: re.Match[str]) -> str:
    first, negative, last, sign = match.groups()
    whole = {"%": "百", "‰": "千", "‱": "万"}[sign]
    words = f"{whole}分之{_percentage(first, whole)}"
    if last:
        words += f"到{negative}{whole}分之{_percentage(last, whole)}"
    return words


def _percentage(text: str, whole: str) -> str:
    return "百" if (text, whole) == ("100", "百") else number(text)


def _fraction(match: re.Match[str]) -> str:
    whole, numerator, denominator = match.groups()
    # 3/2 is a fraction still; a blood pressure of 120/80 is none.
    if int(denominator) < 2 or int(numerator) > int(denominator) > 10:
        return f"{whole or ''}{cardinal(numerator)}比{cardinal(denominator)}"
    words = f"{cardinal(denominator)}分之{cardinal(numerator)}"
    return f"{cardinal(whole)}又{words}" if whole else words


def _measured_fraction(match: re.Match[str]) -> str:
    numerator, denominator, symbol = match.groups()
    if int(numerator) >= int(denominator):
        return match.group()
    part = f"{cardinal(denominator)}分之{cardinal(numerator)}"
    return part + UNITS[symbol].mandarin


def _connector(match: re.Match[str]) -> str:
    first, unit, dash, last = match.groups()
    is_negative = match.string[match.start() - 1 : match.start()] == "-"
    are_whole = first.isdecimal() and last.isdecimal() and not is_negative
    falls = are_whole and not unit and int(first) > int(last)
    if not falls or dash == "~":
        return f"{first}{unit}到"
    # People write ranges upwards; 3-1 is a score, and 184-8号 or 9600-0019 a name.
    is_code = len(last) > 1 and last.startswith("0")
    is_name = is_code or match.string.startswith("号", match.end(4))
    return f"{first}{'杠' if is_name else '比'}"


def _measured(match: re.Match[str]) -> str:
    first, last, symbol = match.groups()
    before = match.string[max(0, match.start() - 2) : match.start()]
    # The s of `iPhone 5s` is no second.
    if re.fullmatch("[A-Za-z]", symbol) and re.fullmatch("[A-Za-z] ", before):
        return match.group()
    words = counted(first) + (f"到{counted(last)}" if last else "")
    return words + UNITS[symbol].mandarin


def _power(match: re.Match[str]) -> str:
    negative, exponent, per, symbol = match.groups()
    words = f"的{negative}{cardinal(exponent)}次方"
    return words + ("每" if per else "") + UNITS[symbol].mandarin


def _per_unit(match: re.Match[str]) -> str:
    return f"每{UNITS[match.group(1)].mandarin}"


def _bare_year(match: re.Match[str]) -> str:
    return spell(match.group()) if is_recent_year(match.group()) else match.group()


def _integer(match: re.Match[str]) -> str:
    digits = match.group()
    is_code = len(digits) > 8 and not digits.endswith("0000")
    return spell(digits) if is_code else cardinal(digits)


def _ordinals(match: re.Match[str]) -> str:
    return re.sub(r"\d+", lambda digits: cardinal(digits.group()), match.group())


def _ratio(match: re.Match[str]) -> str:
    return "比".join(map(number, match.group().split(":")))


RANGES: tuple[Rule, ...] = (
    rule(r"([¥$€£]) ?-(?=\d)", r"-\1"),
    rule(r"(?<=满)(\d{1,6})-(?=\d)", r"\1减"),
    rule(rf"(?<=\d) ?- ?(?={NUMBER}(?: ?[-+×*÷/乘] ?{NUMBER}){{0,9}}[)）]? ?=)", "减"),
    rule(
        rf"(?<![\w.])(?<![A-Za-z]-)({NUMBER})([年月日号元块个天岁度万亿%‰°A-Za-z^/\d]{{0,6}}?)"
        rf" ?(?<!\^)([-~—]) ?(?=([¥$€£+-]?{NUMBER}))",
        _connector,
    ),
    rule(r"(前\d{1,4}年?) ?[-~—] ?(?=(?:公元)?前?\d)", r"\1到"),
    # 3楼-5楼, 第1章~第3章, 周一-周五
    rule(
        rf"{NUMBER_START}({NUMBER})([{HAN}]{{1,3}}) ?[-~—] ?(?=第?{NUMBER}\2)",
        r"\1\2到",
    ),
    rule(
        rf"(周|星期|礼拜)([{_WEEKDAYS}]) ?[-~—] ?(?=\1?[{_WEEKDAYS}])",
        r"\1\2到",
    ),
    rule(
        r"(?<=[点分半刻时]) ?[-~—] ?"
        rf"(?=(?:{PARTS_OF_DAY})?(?:\d|[零一二两三四五六七八九十]){{1,3}}[点时:])",
        "到",
    ),
    # 零下五到三 would both be below zero.
    rule(rf"(?<![\w)）\]-])(-{NUMBER}到)(?=[1-9][\d.]{{0,7}} ?°C)", r"\1零上"),
    rule(
        r"(?<![A-Za-z\d)）\]-])-"
        r"(?=[\d.]{1,8}(?:°C)?(?:到(?:[-+]|零上)?[\d.]{1,8})? ?°C)",
        "零下",
    ),
    rule(r"(?<![\w)）\]-])-(?=[\d.$¥€£])", "负"),
    rule(rf"(?<=[A-Za-z])-(?={NUMBER}[%‰])", "负"),
    rule(r"(?<![\w)）\]+])\+(?=[\d.$¥€£])", "正"),
    rule(r"(?<!\w)~ ?(?=[\d¥$€£])", "约"),
)
"""Rules for minus signs and for the dashes between numbers."""

SCORES: tuple[Rule, ...] = (
    rule(
        rf"(?:(?<=比分)|(?<=比例)|(?<=配比)|(?<=比率)|(?<=以))([为是约:： ]{{0,2}})"
        rf"({NUMBER})[:-]({NUMBER})(?![\d:])",
        r"\1\2比\3",
    ),
    rule(
        r"(?<![\d:.-])(\d{1,3})[:-](\d{1,3})(?=[战击险大完取惜]?[胜败平]|领先|落后|获胜|逆转|[负输赢])",
        r"\1比\2",
    ),
)
"""Rules for scores that would pass for times."""

RATIOS: tuple[Rule, ...] = (
    rule(rf"(?<![\w:.]){NUMBER}(?::{NUMBER})+(?![\d:])", _ratio),
)
"""Rules for scores and proportions; what is a time has been read by then."""

QUANTITIES: tuple[Rule, ...] = (
    rule(rf"\$ ?(?={NUMBER}蚊)", ""),
    rule(
        rf"(?<![A-Za-z]){_CURRENCY} ?(?P<first>{NUMBER})"
        rf"(?:到[¥$€£]?(?P<last>{NUMBER}))?{_SCALE}元?",
        _money,
    ),
    rule(
        rf"{NUMBER_START}(?P<first>{NUMBER})(?:到(?P<last>{NUMBER}))?{_SCALE}"
        rf" ?{_CURRENCY}(?![A-Za-z])",
        _money,
    ),
    rule(
        rf"{NUMBER_START}(\d+\.\d\d)(?=[元块])", lambda match: number(_amount(match[1]))
    ),
    rule(rf"{NUMBER_START}({NUMBER})(?:[%‰‱]?到(负?)({NUMBER}))? ?([%‰‱])", _percent),
    rule(r"\b24/7\b", "七乘二十四小时"),
    rule(rf"(?<![\w./])(\d{{1,4}})/(\d{{1,4}}) ?{_UNIT}", _measured_fraction),
    rule(r"第(\d{1,4})/(\d{1,4})([期页頁集章讲講步轮輪张張])", r"第\1\3，共\2\3"),
    rule(r"(?<![\w./])(?:(\d{1,4}) )?(\d{1,4})/(\d{1,4})(?![\w/]|\.\d)", _fraction),
    rule(
        r"(?<=[元块角分次个米吨度人])/(?=[斤克吨升个天日月年人次平米秒台件条张份只套间晚夜周小分])",
        "每",
    ),
    rule(rf"(?<=\d)\^(负?)(\d{{1,3}}) ?(/?){_UNIT}", _power),
    rule(
        rf"{NUMBER_START}(?:(?<![A-Za-z-])|(?<=\dh)|(?<=\dmin))({NUMBER})"
        rf"(?:到({NUMBER}))? ?{_UNIT}"
        "(?!(?<=g)(?:网|手机|信号|基站))",
        _measured,
    ),
    rule(rf"(?<=[{HAN}])/{_UNIT}", _per_unit),
    rule(
        rf"((?:\d|[零一两二三四五六七八九十百千万亿])[{HAN}]{{1,3}})/"
        rf"(?=(?:{_MEASURES})(?:的|左右|以[上下]|[^{HAN}]|\Z))",
        r"\1每",
    ),
    rule(r"(?<=[元块升])/(?=[\d一两二三四五六七八九十])", "每"),
    # 1米75 is a height, 9秒58 a record.
    rule(
        rf"(?<=[\d零一二两三四五六七八九十][米秒])(\d\d)(?![\d.]|{_UNIT}|{_MEASURE})",
        lambda match: spell(match[1]),
    ),
    rule(r"(?<![\w.])(\d{1,6})(?:st|nd|rd|th)\b", r"第\1"),
)
"""Rules for amounts with a sign or a unit."""

COUNTS: tuple[Rule, ...] = (
    # 第1、2、3名: all of them are ordinals.
    rule(
        rf"第(?:\d{{1,4}}|[一二三四五六七八九十]{{1,3}})"
        rf"(?:(?:[、和或与及到至,]第?\d{{1,4}})+|(?:，\d{{1,4}}){{2,}}){NUMBER_END}",
        _ordinals,
    ),
    # 3号楼2层 is one storey, 有2层 are two.
    rule(r"(?:(?<=[号座栋]楼)|(?<=地下)|(?<=位于))2(?=层)|2(?=层\d)", "二"),
    rule(rf"{_NOT_ORDINAL}2(?=(?:[到至、]\d[\d.]{{0,9}})?{_MEASURE})", "两"),
    rule(
        rf"{_NOT_ORDINAL}(?<![加减乘以于比到])(?!2000)\d{{4}}{NUMBER_END}(?!{_MEASURE}|[加减乘除等多余比到])",
        _bare_year,
    ),
    rule(SHORT_WORD_BEFORE_NUMBER, r"\1 "),
    rule(rf"{NUMBER_START}\d+\.\d+", lambda match: number(match.group())),
    rule(r"(?<![\w.])\.\d+", lambda match: number(match.group())),
    rule(r"\d+", _integer),
)
"""Rules for plain numbers; no digit remains after them."""
