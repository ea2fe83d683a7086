"""Money, units, ranges, fractions and counts in Japanese.

All rules but the last ones only put Japanese words in the place of signs (5km becomes
5キロメートル); what a number sounds like is decided in one place, next to its counter.
"""

import re
from collections.abc import Mapping

from cosykit.synthesis.text.normalize.japanese_counters import COUNTERS, count
from cosykit.synthesis.text.normalize.japanese_numbers import (
    mark_word,
    read_decimal,
    read_digits,
    read_integer,
)
from cosykit.synthesis.text.normalize.rules import (
    NUMBER_START,
    Rule,
    one_of,
    paired,
    rule,
)

_UNITS = paired("""
    km キロメートル  m メートル  cm センチメートル  mm ミリメートル  μm マイクロメートル
    nm ナノメートル  km^2 平方キロメートル  m^2 平方メートル  cm^2 平方センチメートル
    ha ヘクタール  m^3 立方メートル  cm^3 立方センチメートル  kg キログラム  g グラム
    mg ミリグラム  t トン  L リットル  l リットル  mL ミリリットル  ml ミリリットル
    dL デシリットル  cc シーシー  m/s メートル毎秒  km/h キロメートル毎時  °C 度  °F 度
    ° 度  V ボルト  kV キロボルト  mA ミリアンペア  mAh ミリアンペアアワー  W ワット
    kW キロワット  MW メガワット  kWh キロワット時  Hz ヘルツ  kHz キロヘルツ
    MHz メガヘルツ  GHz ギガヘルツ  Pa パスカル  hPa ヘクトパスカル  kPa キロパスカル
    cal カロリー  kcal キロカロリー  dB デシベル  Ω オーム  KB キロバイト  kB キロバイト
    MB メガバイト  GB ギガバイト  TB テラバイト  kbps キロビーピーエス
    Mbps メガビーピーエス  Gbps ギガビーピーエス  px ピクセル  fps エフピーエス
    ms ミリ秒  min 分  h 時間  mmHg ミリメートルエイチジー  % パーセント  ‰ パーミル
    ¥ 円  $ ドル  € ユーロ  £ ポンド
""")
_CURRENCIES = paired("""
    ¥ 円  JP¥ 円  JPY 円  $ ドル  US$ 米ドル  USD 米ドル  € ユーロ  EUR ユーロ  £ ポンド
    ₩ ウォン  CN¥ 元
""")
_CURRENCY = rf"({one_of(_CURRENCIES)})"

_NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,6}(?!\d)(?:\.\d+)?|\d{1,18}(?!\d)(?:\.\d+)?)"
_SCALES: Mapping[str, int] = {
    small + large: factor * power
    for small, factor in (("", 1), ("百", 100), ("千", 1000))
    for large, power in (("", 1), ("万", 10**4), ("億", 10**8), ("兆", 10**12))
    if small + large
}
# 百貨店 and 千葉 begin a word of their own.
_SCALE = rf"(?:{one_of(_SCALES)})(?!貨|葉|代)"
_AMOUNT = rf"(?:(?:{_NUMBER}{_SCALE})+{_NUMBER}?|{_NUMBER})"
_TERM = re.compile(rf"({_NUMBER})({_SCALE})?", re.ASCII)
_COUNTER = rf"(?:{one_of(COUNTERS)}|[ァ-ヺ][ァ-ヺー]*)"

# After a counter, where the dictionary would not expect them; and what must not follow,
# because it makes another word: 3回間違えた, 3日前後.
_SUFFIXES: Mapping[str, tuple[str, str]] = {
    "間": ("カン", "違|際|に合"),
    "目": ("メ", "的|標|次"),
    "半": ("ハン", "分|数|額|径"),
    "後": ("ゴ", "ろ|半|輩|日"),
    "前": ("マエ", "後|半|向|進|提|例|日|回"),
    "分": ("ブン", "析|類|割|野|離|け|か"),
    "台": ("ダイ", "風|所"),
    "代": ("ダイ", "表|理|わ|替"),
    "組": ("グミ", "織|み|合"),
    "制": ("セー", "限|度|作|御"),
    "弱": ("ジャク", "い|点|者"),
    "強": ("キョー", "い|化|力|調|制"),
}
_SUFFIX = "|".join(f"{s}(?!{other})" for s, (_, other) in _SUFFIXES.items())


def _counted(match: re.Match[str]) -> str:
    amount, counter, suffixes = match.groups(default="")
    before = match.string[max(0, match.start() - 1) : match.start()]
    if counter == "日" and amount == "1" and before == "月":
        words = "ツイタチ"
    elif counter == "つ" and amount not in "123456789":
        words = _amount(amount, "") + counter
    else:
        words = _amount(amount, counter)
    return mark_word(words + "".join(_SUFFIXES[suffix][0] for suffix in suffixes))


def _amount(amount: str, counter: str) -> str:
    """Read an amount such as 1,234 or 3万5千 or 1.5億 with its counter."""
    terms = [(n.replace(",", ""), scale) for n, scale in _TERM.findall(amount)]
    if any("." in number for number, _ in terms):
        reading = COUNTERS[counter][0] if counter in COUNTERS else counter
        return "".join(_term(number, scale) for number, scale in terms) + reading
    value = sum(int(number) * _SCALES.get(scale, 1) for number, scale in terms)
    return count(value, counter) if counter else read_integer(value)


def _term(number: str, scale: str) -> str:
    whole, point, fraction = number.partition(".")
    words = read_decimal(whole, fraction) if point else read_integer(int(whole))
    return words + (read_integer(_SCALES[scale]).removeprefix("イチ") if scale else "")


def _digits(match: re.Match[str]) -> str:
    return mark_word(read_digits(match.group()))


def _numerator_first(match: re.Match[str]) -> str:
    return _fraction(match[1], match[2])


def _denominator_first(match: re.Match[str]) -> str:
    return _fraction(match[2], match[1])


def _fraction(numerator: str, denominator: str) -> str:
    parts = count(int(denominator), "ブン") + "ノ"
    return mark_word(parts + read_integer(int(numerator)))


SIGNS_OF_MEASURE: tuple[Rule, ...] = (
    rule(rf"{_CURRENCY} ?({_AMOUNT})", lambda match: match[2] + _CURRENCIES[match[1]]),
    rule(rf"{NUMBER_START}(\d{{2,3}})/(?=\d{{2,3}} ?mmHg)", r"\1の"),
    rule(r"(?<=[回拍件])/(?=[秒分時日月年])", "毎"),
    rule(
        rf"(?<=[\d万億兆]) ?({one_of(_UNITS)})(?![A-Za-z])",
        lambda match: _UNITS[match[1]],
    ),
)
"""Rules that put words in the place of units and currencies."""

COUNTS: tuple[Rule, ...] = (
    rule(rf"{NUMBER_START}(\d{{1,9}})/(\d{{1,9}})(?![\d/])", _numerator_first),
    rule(rf"{NUMBER_START}(\d{{1,9}})分の(\d{{1,9}})(?!\d)", _denominator_first),
    rule(r"(?<![\d.,])(?:0\d{1,16}|\d{13,})(?![\d.,万億兆])", _digits),
    rule(rf"{NUMBER_START}({_AMOUNT})({_COUNTER})?((?:{_SUFFIX}){{0,2}})", _counted),
    rule(r"\d+", _digits),
)
"""Rules that read numbers; no digit remains after them."""
