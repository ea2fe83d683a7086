"""What Japanese counts with, and how number and counter change each other.

1本 is イッポン and 3本 サンボン; 4時 is ヨジ, 4人 ヨニン and 4日 ヨッカ.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from cosykit.synthesis.text.normalize.japanese_numbers import (
    DIGITS,
    geminate,
    read_integer,
)


@dataclass(frozen=True, slots=True)
class Contact:
    """What happens where a number meets a counter.

    The sets hold the last word of the number: 1 to 9, 10, 100, 1000 or 10,000.

    Attributes:
        cut: Number words that end in ッ before the counter.
        voiced: Number words after which the counter begins with b, g or z.
        hardened: Number words after which it begins with p.
    """

    cut: frozenset[int] = frozenset()
    voiced: frozenset[int] = frozenset()
    hardened: frozenset[int] = frozenset()


_BEFORE_K = frozenset((1, 6, 8, 10, 100))
_BEFORE_S_T = frozenset((1, 8, 10))
_AFTER_N = frozenset((3, 1000, 10_000))

_PLAIN = Contact()
_K = Contact(cut=_BEFORE_K)
_K_OR_G = Contact(cut=_BEFORE_K, voiced=_AFTER_N)
_S_T = Contact(cut=_BEFORE_S_T)
_S_OR_Z = Contact(cut=_BEFORE_S_T, voiced=_AFTER_N)
_H_B_P = Contact(cut=_BEFORE_K, voiced=_AFTER_N, hardened=_BEFORE_K)
_H_P = Contact(cut=_BEFORE_K, hardened=_BEFORE_K | _AFTER_N | {4})
_ONLY_TEN = Contact(cut=frozenset((10,)))

# Counters borrowed from other languages change less; their first kana decides.
_BORROWED = {
    **dict.fromkeys("カキクケコ", Contact(cut=frozenset((6, 10, 100)))),
    **dict.fromkeys("サシスセソタチツテト", _S_T),
    **dict.fromkeys("パピプペポ", _ONLY_TEN),
}

_TABLE: tuple[tuple[Contact, str], ...] = (
    (
        _PLAIN,
        """
        円 エン  年 ネン  月 ガツ  日 ニチ  時 ジ  秒 ビョー  人 ニン  名 メー  様 サマ
        つ ツ  番 バン  号 ゴー  枚 マイ  台 ダイ  度 ド  倍 バイ  位 イ  元 ゲン
        割 ワリ  厘 リン  列 レツ  例 レー  輪 リン  膳 ゼン  代 ダイ  題 ダイ  段 ダン
        畳 ジョー  次 ジ  字 ジ  文字 モジ  面 メン  問 モン  門 モン  部 ブ
        分野 ブンヤ  幕 マク  枠 ワク  話 ワ  両 リョー  里 リ  塁 ルイ  味 ミ
        行 ギョー  男 ナン  女 ジョ  重 ジュー  羽 ワ  番地 バンチ  番線 バンセン
        号室 ゴーシツ  号車 ゴーシャ  年度 ネンド  年代 ネンダイ  年生 ネンセー
        人前 ニンマエ  人称 ニンショー  光年 コーネン  次元 ジゲン  語 ゴ  言語 ゲンゴ
        限 ゲン  時限 ジゲン  条 ジョー  打席 ダセキ  晩 バン  部屋 ヘヤ  皿 サラ
        粒 ツブ  口 クチ  通り トーリ  束 タバ  駅 エキ  切れ キレ  袋 フクロ
        議席 ギセキ
        """,
    ),
    (
        _ONLY_TEN,
        """
        試合 シアイ  世帯 セタイ  品目 ヒンモク  作品 サクヒン  都市 トシ  種目 シュモク
        """,
    ),
    (
        _K,
        """
        回 カイ  個 コ  件 ケン  曲 キョク  局 キョク  巻 カン  缶 カン  機 キ  基 キ
        級 キュー  気圧 キアツ  脚 キャク  球 キュー  校 コー  画 カク  角 カク  戸 コ
        課 カ  区 ク  句 ク  桁 ケタ  株 カブ  組 クミ  系統 ケートー  箇月 カゲツ
        個月 カゲツ  箇所 カショ  ヶ月 カゲツ  ヶ所 カショ  ヶ国 カコク  ヶ年 カネン
        ヶ条 カジョー
        """,
    ),
    (
        _K_OR_G,
        """
        階 カイ  軒 ケン
        """,
    ),
    (
        _S_T,
        """
        冊 サツ  歳 サイ  才 サイ  周 シュー  周年 シューネン  週 シュー  種 シュ
        社 シャ  種類 シュルイ  章 ショー  節 セツ  席 セキ  隻 セキ  世紀 セーキ
        世代 セダイ  層 ソー  色 ショク  首 シュ  勝 ショー  集 シュー  室 シツ  進 シン
        寸 スン  尺 シャク  選 セン  頭 トー  通 ツー  点 テン  等 トー  体 タイ
        隊 タイ  棟 トー  丁目 チョーメ  店 テン  灯 トー  党 トー  着 チャク
        地点 チテン  卓 タク  滴 テキ  都道府県 トドーフケン
        """,
    ),
    (
        _S_OR_Z,
        """
        足 ソク
        """,
    ),
    (
        _H_B_P,
        """
        本 ホン  匹 ヒキ  杯 ハイ  票 ヒョー  遍 ヘン  箱 ハコ
        """,
    ),
    (
        _H_P,
        """
        分 フン  泊 ハク  発 ハツ  歩 ホ  品 ヒン  編 ヘン  版 ハン  拍 ハク  班 ハン
        敗 ハイ  犯 ハン  派 ハ  筆 ヒツ
        """,
    ),
)


def _read_table() -> Mapping[str, tuple[str, Contact]]:
    counters: dict[str, tuple[str, Contact]] = {}
    for contact, row in _TABLE:
        words = row.split()
        for counter, reading in zip(words[::2], words[1::2], strict=True):
            # か月 has a kana for 箇 that people write in many ways.
            spellings = "ヶケヵカか" if counter[0] == "ヶ" else counter[0]
            for first in spellings:
                counters[first + counter[1:]] = (reading, contact)
    return MappingProxyType(counters)


COUNTERS = _read_table()
"""Reading and contact of each counter."""

# Readings of the last digit that only some counters ask for.
_LAST_DIGIT: Mapping[str, Mapping[int, str]] = {
    "時": {4: "ヨ", 7: "シチ", 9: "ク"},
    "月": {4: "シ", 7: "シチ", 9: "ク"},
    "日": {7: "シチ", 9: "ク"},
    "人": {4: "ヨ", 7: "シチ"},
    "年": {4: "ヨ"},
    "年生": {4: "ヨ"},
    "年度": {4: "ヨ"},
    "円": {4: "ヨ"},
    "人前": {4: "ヨ"},
    "畳": {4: "ヨ"},
    "次元": {4: "ヨ"},
    "時限": {4: "ヨ"},
}

_WHOLE: Mapping[str, Mapping[int, str]] = {
    "人": {1: "ヒトリ", 2: "フタリ"},
    "日": {
        2: "フツカ", 3: "ミッカ", 4: "ヨッカ", 5: "イツカ", 6: "ムイカ", 7: "ナノカ",
        8: "ヨーカ", 9: "ココノカ", 10: "トオカ", 14: "ジューヨッカ", 20: "ハツカ",
        24: "ニジューヨッカ",
    },
    "つ": {
        1: "ヒトツ", 2: "フタツ", 3: "ミッツ", 4: "ヨッツ", 5: "イツツ", 6: "ムッツ",
        7: "ナナツ", 8: "ヤッツ", 9: "ココノツ",
    },
    "羽": {3: "サンバ", 6: "ロッパ", 10: "ジュッパ"},
}  # fmt: skip
_COUNTED_NATIVELY = frozenset(
    ("晩", "部屋", "皿", "粒", "口", "通り", "束", "駅", "切れ", "袋", "箱", "桁", "株")
)
_NATIVE = {1: "ヒト", 2: "フタ"}


def count(value: int, counter: str) -> str:
    """Read a number with its counter, one of `COUNTERS` or a katakana word."""
    whole = _WHOLE.get(counter, {}).get(value)
    if whole:
        return whole
    if counter in _COUNTED_NATIVELY and value in _NATIVE:
        return _NATIVE[value] + COUNTERS[counter][0]
    return attach(read_integer(value), last_word(value), counter)


def attach(words: str, last: int, counter: str) -> str:
    """Put a counter behind a number.

    Args:
        words: The number in katakana.
        last: Its last word: a digit, 10, 100, 1000 or 10,000.
        counter: One of `COUNTERS` or a katakana word.
    """
    reading, contact = COUNTERS.get(counter) or (
        counter,
        _BORROWED.get(counter[0], _PLAIN),
    )
    own = _LAST_DIGIT.get(counter, {}).get(last)
    if own:
        words = words.removesuffix(DIGITS[last]) + own
    if last in contact.cut:
        words = geminate(words)
    shift = 2 if last in contact.hardened else 1 if last in contact.voiced else 0
    # A kana, its voiced and its p-form stand side by side in Unicode.
    return words + chr(ord(reading[0]) + shift) + reading[1:]


def last_word(value: int) -> int:
    """Tell the last word of a number: a digit, 10, 100, 1000 or 10,000."""
    if value % 10 or value == 0:
        return value % 10
    return next((power for power in (10, 100, 1000) if value % (power * 10)), 10_000)
