"""Letters and digits that stand in Japanese text, spelt in katakana."""

import re
import unicodedata
from functools import cache

from cosykit.synthesis.text.normalize.japanese import normalize_japanese

_NAMES = """
    A エー    B ビー    C シー    D ディー  E イー        F エフ      G ジー
    H エイチ  I アイ    J ジェー  K ケー    L エル        M エム      N エヌ
    O オー    P ピー    Q キュー  R アール  S エス        T ティー    U ユー
    V ブイ    W ダブリュー        X エックス              Y ワイ      Z ゼット
"""
# Forms that names are written with, and the ordinary ones that dictionaries have.
_VARIANT_KANJI = str.maketrans("𠮷髙﨑德瀨邉邊齋濵", "吉高崎徳瀬辺辺斎浜")
_WIDTH_VARIANTS = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uff9f]+")
_DIGIT = re.compile("[0-9]")
_LETTERS = re.compile("[A-Za-z]+")


def spell_letters(text: str) -> str:
    """Write what is neither kana nor kanji in katakana: `AIと5` as `エーアイとゴ`.

    Kanji and kana take the form in which the dictionary has them.
    """
    text = _WIDTH_VARIANTS.sub(
        lambda run: unicodedata.normalize("NFKC", run.group()), text
    )
    text = text.translate(_VARIANT_KANJI)
    if _DIGIT.search(text):
        text = normalize_japanese(text)
    return _LETTERS.sub(lambda run: "".join(map(_name, run.group())), text)


@cache
def _names() -> dict[str, str]:
    words = _NAMES.split()
    return dict(zip(words[::2], words[1::2], strict=True))


def _name(letter: str) -> str:
    return _names()[letter.upper()]
