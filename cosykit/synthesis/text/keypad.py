"""The keys `*` and `#` of a telephone by name: 请按#键, *100#, press * to go back.

Elsewhere these signs are markup or say nothing, so they are named before Markdown goes.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from cosykit.synthesis.text.normalize.rules import Rule, rewrite, rule
from cosykit.synthesis.text.scripts import HAN

_MANDARIN = MappingProxyType({"*": "星号", "＊": "星号", "#": "井号", "＃": "井号"})
_ENGLISH = MappingProxyType({"*": "star", "＊": "star", "#": "pound", "＃": "pound"})
_JAPANESE = MappingProxyType({"*": "コメジルシ", "＊": "コメジルシ"})

# Two asterisks are bold type, which may be that of a key.
_KEY = r"((?<![*＊])[*＊](?![*＊])|[#＃])"
_OPENING = r" ?(?:\*\*|[“\"‘'（(【\[「『])?"
_CLOSING = r" ?(?:\*\*|[”\"’'）)】\]」』])"
_END = rf"(?={_CLOSING}|[，。；、！？,.;!?:：\s]|\Z)"
# 按*返回, but not 按*返回*, which is emphasis, nor a topic of #…#.
_WORD = rf"(?=[{HAN}])(?![^，。；、！？,.;!?\n]{{1,30}}\1)"


def _named(names: Mapping[str, str]) -> Callable[[re.Match[str]], str]:
    """Replace what begins with the key by its name; what stands before it is kept."""
    return lambda match: match[0][: match.start(1) - match.start()] + names[match[1]]


def _service_code(match: re.Match[str]) -> str:
    return re.sub("[*#]", lambda sign: _MANDARIN[sign[0]], match[0])


def _star_code(match: re.Match[str]) -> str:
    return f"{match[1]}star {' '.join(match[2])}"


_RULES: tuple[Rule, ...] = (
    # *100#, *#06#
    rule(
        r"(?<![\w*#])\*#?\d{1,20}(?:[*#]\d{1,20}){0,5}#(?![\w*#])",
        _service_code,
    ),
    rule(
        rf"(?:[输輸]入|[拨撥打按])\d{{1,20}}([#＃])(?:{_END}|{_WORD})",
        _named(_MANDARIN),
    ),
    # 以“#”号键结束
    rule(
        r"[“\"（(]([*＊#＃])[”\"）)][号號](?=[键鍵])", lambda match: _MANDARIN[match[1]]
    ),
    # *键, #号键, “#”键, but not 点击*确认*键; 以#号结束
    rule(
        rf"(?<![A-Za-z])(?:(?=[#＃])|(?<![{HAN}])|(?<=[按拨撥入以加或和及与與用]))"
        rf"{_KEY}(?:[号號](?=[键鍵])|(?=(?:{_CLOSING})? ?[键鍵]))",
        _named(_MANDARIN),
    ),
    rule(rf"(?<!\w){_KEY}[号號](?![\w码碼线線楼樓])", _named(_MANDARIN)),
    rule(
        rf"(?:[按拨撥]|[拨撥]打|按下|[输輸键鍵]入){_OPENING}{_KEY}(?:{_END}|{_WORD})",
        _named(_MANDARIN),
    ),
    rule(rf"[加或和及与與]{_OPENING}{_KEY}{_END}", _named(_MANDARIN)),
    rule(
        r"\b(?i:press|push|hit|dial|enter|followed by|then|or|and)(?= )"
        rf"{_OPENING}{_KEY}{_END}",
        _named(_ENGLISH),
    ),
    rule(rf"(?<!\w){_KEY}(?= (?:key|button)\b)", _named(_ENGLISH)),
    rule(r"\b((?i:press|dial|call|use) )\*(\d{2,4})(?![\w*#])", _star_code),
    rule(r"(?<!\*)([*＊])(?=を押|をダイヤル|キー|ボタン)", _named(_JAPANESE)),
)


def name_keys(text: str) -> str:
    """Write the keys of a telephone as they are spoken, and leave all other signs."""
    return rewrite(text, _RULES)
