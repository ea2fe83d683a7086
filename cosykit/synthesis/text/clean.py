"""Raw user text to plain text: no markup, no emoji, one spelling of each character.

    text ─▶ breaks ─▶ formulas ─▶ HTML ─▶ keys ─▶ Markdown ─▶ emoji ─▶ characters
         ─▶ punctuation

Every step takes time proportional to the text, whatever it holds.
"""

import re
import unicodedata
from functools import cache

from cosykit.synthesis.text.formulas import read_formulas
from cosykit.synthesis.text.keypad import name_keys
from cosykit.synthesis.text.markup import strip_html, strip_markdown
from cosykit.synthesis.text.scripts import fold_latin

_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_BREAK = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

_KEYCAP = "[0-9#*]\ufe0f?\u20e3"
_PICTURE = (
    "[\u231a\u231b\u2328\u23cf\u23e9-\u23fa\u25aa-\u25ab\u25b6\u25c0\u25fb-\u25fe"
    "\u2600-\u2775\u2794-\u27bf\u2934\u2935\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f0ff\U0001f10d-\U0001f10f\U0001f12f\U0001f16c-\U0001f171"
    "\U0001f17e\U0001f17f\U0001f18e\U0001f191-\U0001f19a\U0001f1e6-\U0001f1ff"
    "\U0001f201-\U0001f2ff\U0001f300-\U0001faff]|[\xa9\xae\u203c\u2049\u2122\u2139"
    "\u2194-\u21aa]\ufe0f"
)
# What may follow a picture: variation selectors, joiners, skin tones, flag tags.
_EMOJI = re.compile(
    f"(?:{_KEYCAP}|(?:{_PICTURE})[\ufe0e\ufe0f\u200d\U000e0020-\U000e007f]*)+"
)

_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\uffff\ue000-\uf8ff\U000e0000-\U0010ffff]"
)
_WIDE_SPACE = re.compile("[\t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_SPACES = re.compile(" {2,}")
_SPACE_AT_LINE_EDGE = re.compile(" ?\n ?")

# Characters whose compatibility form says something else: m² is not m2.
_OWN_FORM = str.maketrans(
    {
        "㎡": "m^2",
        "㎠": "cm^2",
        "㎟": "mm^2",
        "㎢": "km^2",
        "㎥": "m^3",
        "㎤": "cm^3",
        "㎧": "m/s",
        "℃": "°C",
        "℉": "°F",
        "№": "No.",
        "µ": "μ",
        "∶": ":",
        "−": "-",
        "‐": "-",
        "‑": "-",
        "‒": "-",
        "﹣": "-",
        "⁄": "/",
        "∕": "/",
        "∗": "*",
        "⋅": "·",
        "•": "·",
        "∙": "·",
        "〜": "~",
        "∼": "~",
        "～": "~",
        "￥": "¥",
        "―": "—",
        "─": "—",
        "⸺": "—",
        "–": "-",
        "‖": "|",
        "﹏": "_",
        "™": "",
        "®": "",
        "©": "",
        "℠": "",
        "＂": '"',
        "″": '"',
        "′": "'",
        "＇": "'",
        "`": "",
        "´": "'",
        "º": "°",
        "˚": "°",
    }
)
_QUOTES = str.maketrans("「」『』«»‘’„‟❝❞〝〞《》〈〉", "“”“”“”“”““" + "“”" * 4)
_BRACKETS = str.maketrans("【】〔〕〖〗［］｛｝[]{}", "（）（）（）（）（）()()")
_APOSTROPHE = re.compile(r"(?<=[A-Za-z])[‘’ʼ](?=[A-Za-z])|[‘’](?=[0-9])")
_SUPERSCRIPT = re.compile("[⁰¹²³⁴-⁹⁺⁻]+")
# Digits of other scripts, vulgar fractions, Roman and circled numbers.
_NUMBER = re.compile(
    r"(?![0-9])\d|[\u00bc-\u00be\u2080-\u2089\u2150-\u218b\u2460-\u249b\u24ea-\u24ff"
    r"\u2776-\u2793]"
)
# Full-width punctuation stays as it is, all else takes its ordinary form.
_COMPATIBLE = re.compile(
    "[\xaa\u0132-\u017f\u1d00-\u1dbf\u2011-\u2023\u2027-\u215f\u249c-\u24e9"
    "\u3131-\u318e\u3200-\u33ff\ufb00-\ufb06\uff02-\uff07\uff0a\uff0b\uff0d-\uff19"
    "\uff1c-\uff1e\uff20-\uff5d\uff61-\uff9f\uffe0-\uffe6"
    "\U0001d400-\U0001d7ff\U0001f100-\U0001f1e5]+"
)

_FULL_STOPS = re.compile(r"\.{3,}|…+|。{2,}|(?<=\w)\.\.(?!\S)")
_DASHES = re.compile(r"—+|(?<=[^\s-])-{2,}|-{2,}(?![A-Za-z-])")
_PAUSES = re.compile(r"([，,、；;：:])(?: ?\1)+")
_SHOUTS = re.compile(r"[。！？!?](?: ?[。！？!?])+")
_REPEATED = re.compile(r"([(（)）“”\"'])\1+")
_EMPTY = re.compile(r"[(（“] ?[)）”]")
_ORNAMENT = re.compile(r"([=#~_+^|/\\<>@&%$·])\1{2,}")
# A line break in the middle of a sentence: the line is as long as wrapped prose and the
# next one goes on in lower case. Short lines are lists and poems, and stay apart.
_WRAPPED = re.compile(r"(?<=[^\n]{48}[a-z0-9,;:)\"”'-])\n(?=[a-z])")
_LATE_SPACE = re.compile(r" (?=[，。！？；：、）…]|[,!?;](?!\S))")


def clean(text: str) -> str:
    """Reduce user text to letters, digits, punctuation, symbols and line breaks."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    text = read_formulas(_LINE_BREAK.sub("\n", text))
    text = name_keys(strip_html(text))
    text = plain_characters(_EMOJI.sub(" ", strip_markdown(text)))
    return _WRAPPED.sub(" ", plain_punctuation(text)).strip(" ")


def plain_characters(text: str) -> str:
    """Give each character one spelling, and drop those that print nothing."""
    text = _UNPRINTABLE.sub("", text)
    # Sorting the marks of one letter takes Unicode normalisation quadratic time, and
    # no language stacks more than four.
    text = _marks("(M{4})M+").sub(r"\1", text)
    text = unicodedata.normalize("NFC", text)
    text = _WIDE_SPACE.sub(" ", text).translate(_OWN_FORM)
    text = _SUPERSCRIPT.sub(_raised, _NUMBER.sub(_number, text))
    text = _COMPATIBLE.sub(
        lambda run: unicodedata.normalize("NFKC", run.group()), text
    ).translate(_OWN_FORM)
    text = _marks("M+").sub("", _APOSTROPHE.sub("'", fold_latin(text)))
    return text.translate(_QUOTES).translate(_BRACKETS)


@cache
def _marks(pattern: str) -> re.Pattern[str]:
    """Compile a pattern with the combining marks of all scripts in place of `M`."""
    marks = "".join(
        chr(code) for code in range(0x300, 0x1F000) if unicodedata.combining(chr(code))
    )
    return re.compile(pattern.replace("M", f"[{marks}]"))


def _number(character: re.Match[str]) -> str:
    char = character.group()
    plain = unicodedata.normalize("NFKC", char).replace("\u2044", "/")
    if "/" not in plain:
        plain = str(int(unicodedata.numeric(char)))
    before = character.string[character.start() - 1 : character.start()]
    if unicodedata.category(char) == "Nd":
        return plain
    # log₂8 is not log28.
    leads_number = "0" <= character.string[character.end() : character.end() + 1] <= "9"
    return f"{' ' * before.isnumeric()}{plain}{' ' * leads_number}"


def _raised(run: re.Match[str]) -> str:
    return "^" + unicodedata.normalize("NFKC", run.group()).replace("\u2212", "-")


def plain_punctuation(text: str) -> str:
    """Reduce repeated punctuation to one mark, and spaces to one space."""
    text = _ORNAMENT.sub(" ", text)
    text = _FULL_STOPS.sub("…", _DASHES.sub("—", text))
    text = _SHOUTS.sub(_loudest, _PAUSES.sub(r"\1", text))
    text = _EMPTY.sub("", _REPEATED.sub(r"\1", text))
    text = _SPACE_AT_LINE_EDGE.sub("\n", _SPACES.sub(" ", text))
    return _LATE_SPACE.sub("", text)


def _loudest(run: re.Match[str]) -> str:
    marks = run.group()
    return min(marks, key="？?！!。 ".index)
