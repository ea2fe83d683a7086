"""Write out what is not words in Mandarin text."""

import re

from cosykit.synthesis.text.formulas import MINUS
from cosykit.synthesis.text.normalize.abbreviations import ABBREVIATIONS
from cosykit.synthesis.text.normalize.addresses import AddressWords, address_rules
from cosykit.synthesis.text.normalize.mandarin_codes import CODES, MODELS
from cosykit.synthesis.text.normalize.mandarin_dates import DATES, TIMES
from cosykit.synthesis.text.normalize.mandarin_numbers import cardinal, spell
from cosykit.synthesis.text.normalize.mandarin_quantities import (
    COUNTS,
    QUANTITIES,
    RANGES,
    RATIOS,
    SCORES,
)
from cosykit.synthesis.text.normalize.roman import in_digits
from cosykit.synthesis.text.normalize.rules import Rule, rewrite, rule
from cosykit.synthesis.text.normalize.symbols import ONE_SPELLING, only_words
from cosykit.synthesis.text.scripts import CJK, HAN, HELD_CJK

_ADDRESS_WORDS = AddressWords(
    signs={
        ".": "点",
        "/": "斜杠",
        "\\": "反斜杠",
        ":": "冒号",
        "-": "杠",
        "_": "下划线",
        "@": "艾特",
        "?": "问号",
        "=": "等于",
        "&": "和",
        "#": "井号",
        "+": "加",
        "%": "百分号",
        "~": "波浪号",
    },
    spell=spell,
    hashtag="",
    spaced=False,
)

# Digits beyond any number are spelt in one go: no later rule walks through them.
_LONG_NUMBERS: tuple[Rule, ...] = (
    rule(
        r"(?<![\d.])(\d{1,16})\.(\d{17,})",
        lambda match: f"{cardinal(match[1])}点{spell(match[2])}",
    ),
    rule(r"\d{17,}", lambda match: spell(match.group())),
)

# 1,990码 counts something, 1990 may be a year.
_COUNTED: tuple[Rule, ...] = (
    rule(
        rf"(?<![\d.,¥$€£])(\d{{1,3}}(?:,\d{{3}}){{1,4}})(?=[{HAN}])",
        lambda match: cardinal(match[1].replace(",", "")),
    ),
)

# As number plates begin.
_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"

_BLANK = r"(?<![A-Za-z\d])(?:X{2,4}|x{2,4}|×{2,4})"

_PREPARED: tuple[Rule, ...] = (
    # 共 3 个 is set with spaces and spoken without.
    rule(rf"(?<=[\d%°]) (?=[{CJK}])", ""),
    rule(rf"(?<=[{CJK}]) (?=[-+~]?[\d¥$€£])", ""),
    rule(r"(?<=第)([IVXLC]{1,6})(?=[章节卷部篇册期阶类级届代集回幕季])", in_digits),
    # What a template leaves open: XX公司, ××年××月.
    rule(rf"{_BLANK}(?=[年月日号时分])", "某"),
    rule(rf"{_BLANK}(?=[{HAN}])(?!染色)|(?<=[{HAN}]){_BLANK}(?![A-Za-z\d])", "某某"),
    rule(
        r"(?<=[\u4e00-\u9fff])(I{2,3}|IV|VI{1,3}|IX|X[IVX]{1,4})(?![A-Za-z\d])",
        in_digits,
    ),
    rule(r"(?<![A-Za-z])(I|[IVX]{2,4})(?=[型期级])", in_digits),
    rule(r"(?<=\d)：(?=\d)|(?<=\d) : (?=\d)", ":"),
    rule(r"(?<=[A-Z])·(?=[A-Z\d])", ""),
    rule(r"(?<![\w.])(\d+(?:\.\d+)?)[eE]\+?(-?\d{1,3})(?!\w|\.\d)", r"\1乘10^\2"),
    rule(r"(?<!\d)(\d{1,2})/(\d{1,2})(?=月)", r"\1、\2"),
    # Coordinates, not thousands.
    rule(r"(?<![\d.])(\d{1,3}\.\d+), ?(?=-?\d{1,3}\.\d)", r"\1，"),
    rule(r"(?<=\dh)(\d{1,2})m(?![A-Za-z\d^/])", r"\1min"),
    rule(rf"(?<=[{_PROVINCES}][A-Z])[ ·](?=[A-Z\d]{{5,6}}(?![A-Za-z\d]))", ""),
    rule(r"(?<=\d)(?:w(?![A-Za-z])|W(?=\+|元|块|人|粉|播放|阅读|用户|字))", "万"),
    # Teams, not volts.
    rule(r"(?<![\w.])(\d{1,2})V(?=\d{1,2}(?![A-Za-z\d]))", r"\1v"),
    rule(r"○(?=[○〇零一二三四五六七八九年])", "零"),
    rule(r"(?<=\d)°(?=\d{1,2}')", "度"),
    rule(r"(?<=度)(\d{1,2})'", r"\1分"),
    rule(r"(?<=\d分)(\d{1,2}(?:\.\d+)?)\"", r"\1秒"),
    # 长×宽, but not two brands.
    rule(rf"(?<![{HAN}])([{HAN}])×(?=[{HAN}](?![{HAN}]))", r"\1乘"),
    rule(r"(?<=[1-9]) ?[×xX*] ?(?=\d)|(?<=\d\d) ?[×xX*] ?(?=\d)", "乘"),
)

# What begins a number, be it read already, as quantities are, or not.
_VALUE = r"[\d零一两二三四五六七八九十百负正约√]"

_SIGNS: tuple[Rule, ...] = (
    rule(rf"(?:(?<=[(=,])|\A){MINUS}", "负"),
    rule(r"\b([CF])#(?!\w)", r"\1 sharp"),
    rule(r"(?<=[A-Za-z])\+\+", "加加"),
    # A number that is raised behind a word is that of a note.
    rule(rf"(?<=[{HAN}])(?<![米里尺零一二两三四五六七八九十百千万亿])\^(?=\d)", ""),
    rule(r"\^2(?!\d)", "的平方"),
    rule(r"\^3(?!\d)", "的立方"),
    rule(r"\^\((\w{1,3})/(\w{1,3})\)", r"的\2分之\1次方"),
    rule(r"\^\(([^()]{1,40})\)", r"的\1次方"),
    rule(r"\^\(?(负?[A-Za-z\dα-ω]{1,16})\)?", r"的\1次方"),
    rule(r"(?<=\))/(?=\d)", "除以"),
    rule(rf" ?= ?(?=[\w(-]|{_VALUE})", "等于"),
    rule(rf"(?<=[\w)%万亿])\+(?!\w)| ?\+ ?(?=[\w(]|{_VALUE})", "加"),
    rule(r" ?÷ ?", "除以"),
    rule(rf"(?<=\w) ?× ?(?=\w)|(?<=[{HAN})]) ?× ?(?={_VALUE})", "乘"),
    rule(r" ?≥ ?", "大于等于"),
    rule(r" ?≤ ?", "小于等于"),
    rule(r" ?≠ ?", "不等于"),
    rule(r" ?[≈≒] ?", "约等于"),
    rule(r" ?± ?", "正负"),
    rule(rf"↑ ?(?={_VALUE})", "上升"),
    rule(rf"↓ ?(?={_VALUE})", "下降"),
    rule(rf"√ ?(?=[A-Za-z(]|{_VALUE})", "根号"),
    rule(rf"(?<=[\w)]) ?> ?(?=[\w(-])| ?(?<![-=])> ?(?={_VALUE})", "大于"),
    rule(rf"(?<=[\w)]) ?< ?(?=[\w(-])| ?< ?(?={_VALUE})", "小于"),
    rule(r"(?<=[A-Za-z]) ?& ?(?=[A-Za-z])", " and "),
    rule(r"@(?=\S)", "艾特"),
)
_SIGN_NAMES = str.maketrans(
    {
        "&": "和",
        "%": "百分号",
        "‰": "千分号",
        "$": "美元",
        "€": "欧元",
        "£": "英镑",
        "°": "度",
        "∞": "无穷大",
        MINUS: "减",
        "∑": "求和",
        "∏": "连乘",
        "∫": "积分",
        "∂": "偏",
        "∇": "梯度",
        "∈": "属于",
        "∉": "不属于",
        "⊂": "包含于",
        "∪": "并",
        "∩": "交",
        "∀": "任意",
        "∃": "存在",
        "∅": "空集",
        "〇": "零",
        "α": "阿尔法",
        "β": "贝塔",
        "γ": "伽马",
        "δ": "德尔塔",
        "Δ": "德尔塔",
        "ε": "艾普西隆",
        "ζ": "泽塔",
        "η": "伊塔",
        "θ": "西塔",
        "κ": "卡帕",
        "λ": "兰姆达",
        "μ": "缪",
        "ν": "纽",
        "ξ": "克西",
        "π": "派",
        "ρ": "柔",
        "τ": "陶",
        "χ": "凯",
        "ψ": "普西",
        "σ": "西格玛",
        "Σ": "西格玛",
        "φ": "斐",
        "ω": "欧米伽",
        "Ω": "欧姆",
    }
)

# Each kind of thing is read before the kinds that its parts could pass for.
_RULES: tuple[Rule, ...] = (
    *address_rules(_ADDRESS_WORDS),
    *_COUNTED,
    *ONE_SPELLING,
    *_LONG_NUMBERS,
    *_PREPARED,
    *DATES,
    *CODES,
    *ABBREVIATIONS,
    *SCORES,
    *TIMES,
    *RANGES,
    *RATIOS,
    *QUANTITIES,
    *MODELS,
    *_SIGNS,
    *COUNTS,
)


_SENTENCE = re.compile("[^。！？]+[。！？]*|[。！？]+")
# Nothing to read out in it; most sentences are, and need not go through all the rules.
_PLAIN = re.compile(rf"[{HAN}{HELD_CJK}\s，。！？；：、“”（）…]*")


def normalize_mandarin(text: str) -> str:
    """Write numbers, dates, units and signs as Mandarin speaks them.

    Latin words stay as they are. Line breaks are not expected.
    """
    words = "".join(
        sentence if _PLAIN.fullmatch(sentence) else rewrite(sentence, _RULES)
        for sentence in _SENTENCE.findall(text)
    )
    return only_words(words.translate(_SIGN_NAMES), pause="，")
