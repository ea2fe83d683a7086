"""Write out what is not words in Japanese text.

Numbers become katakana together with their counter: 3本 is サンボン. A space keeps
them apart from katakana beside them, so that each stays a word of its own.
"""

from cosykit.synthesis.text.formulas import MINUS
from cosykit.synthesis.text.normalize.addresses import AddressWords, address_rules
from cosykit.synthesis.text.normalize.japanese_codes import CODES, RANGES
from cosykit.synthesis.text.normalize.japanese_counters import COUNTERS
from cosykit.synthesis.text.normalize.japanese_numbers import (
    mark_word,
    part_words,
    read_digits,
)
from cosykit.synthesis.text.normalize.japanese_quantities import (
    COUNTS,
    SIGNS_OF_MEASURE,
)
from cosykit.synthesis.text.normalize.rules import (
    SHORT_WORD_BEFORE_NUMBER,
    Rule,
    one_of,
    rewrite,
    rule,
)
from cosykit.synthesis.text.normalize.symbols import only_words
from cosykit.synthesis.text.scripts import CJK, LATIN

_ADDRESS_WORDS = AddressWords(
    signs={
        ".": "ドット",
        "/": "スラッシュ",
        "\\": "バックスラッシュ",
        ":": "コロン",
        "-": "ハイフン",
        "_": "アンダーバー",
        "@": "アットマーク",
        "?": "クエスチョン",
        "=": "イコール",
        "&": "アンド",
        "#": "シャープ",
        "+": "プラス",
        "%": "パーセント",
        "~": "チルダ",
    },
    spell=read_digits,
    hashtag="",
    spaced=True,
)

_TERM = f"{CJK}{LATIN}\\d()（）"

_PREPARED: tuple[Rule, ...] = (
    # 3 個 is set with a space and spoken without.
    rule(rf"(?<=\d) (?={one_of(COUNTERS)})", ""),
    rule(rf"(?<=[{CJK}])[·・](?=[{CJK}])", " "),
    rule(r"(?<![A-Za-z\d.-])B(\d)F(?![A-Za-z\d])", r"地下\1階"),
    rule(r"(?<![A-Za-z\d.-])(\d{1,2})F(?![A-Za-z\d])", r"\1階"),
)

_SIGNS: tuple[Rule, ...] = (
    rule(SHORT_WORD_BEFORE_NUMBER, r"\1 "),
    rule(r"\^2(?!\d)", "の二乗"),
    rule(r"\^3(?!\d)", "の三乗"),
    rule(r"\^\(([^()]{1,40})\)", r"の\1乗"),
    rule(r"\^(\d{1,3})", r"の\1乗"),
    rule(r"\^[-−](\d{1,3})", r"のマイナス\1乗"),
    rule(rf"(?<=[{_TERM}]) ?[×*] ?(?=[{_TERM}])", mark_word("カケル")),
    rule(rf"(?<=[{_TERM}]) ?÷ ?(?=[{_TERM}])", mark_word("ワル")),
    rule(rf"(?<=[{_TERM}]) ?\+ ?(?=[{_TERM}])", mark_word("プラス")),
    rule(rf"(?<=[{_TERM}]) ?- ?(?=[{_TERM}]+ ?=)", mark_word("マイナス")),
    rule(r" ?(?:[≥≧]|>=) ?", mark_word("ダイナリイコール")),
    rule(r" ?(?:[≤≦]|<=) ?", mark_word("ショウナリイコール")),
    rule(r" ?(?<![-=])> ?(?=[\d-])", mark_word("ダイナリ")),
    rule(r" ?< ?(?=[\d-])", mark_word("ショウナリ")),
    rule(rf" ?= ?(?=[{_TERM}-])", mark_word("イコール")),
)
_SIGN_NAMES = str.maketrans(
    {
        "&": "アンド",
        "@": "アットマーク",
        "#": "シャープ",
        "%": "パーセント",
        "$": "ドル",
        "€": "ユーロ",
        "£": "ポンド",
        "¥": "円",
        "°": "度",
        "≒": "ニアリーイコール",
        "√": "ルート",
        "∞": "無限大",
        MINUS: "マイナス",
        "∑": "シグマ",
        "∏": "パイ",
        "∫": "インテグラル",
        "∂": "ラウンド",
        "∈": "属する",
        "∪": "カップ",
        "∩": "キャップ",
        "〒": "郵便番号",
        "α": "アルファ",
        "β": "ベータ",
        "γ": "ガンマ",
        "δ": "デルタ",
        "Δ": "デルタ",
        "θ": "シータ",
        "λ": "ラムダ",
        "μ": "ミュー",
        "π": "パイ",
        "σ": "シグマ",
        "Σ": "シグマ",
        "φ": "ファイ",
        "ω": "オメガ",
        "Ω": "オーム",
    }
)

# Each kind of thing is read before the kinds that its parts could pass for.
_RULES: tuple[Rule, ...] = (
    *address_rules(_ADDRESS_WORDS),
    *_PREPARED,
    *CODES,
    *SIGNS_OF_MEASURE,
    *_SIGNS,
    *RANGES,
    *COUNTS,
)


def normalize_japanese(text: str) -> str:
    """Write numbers, dates, units and signs as Japanese speaks them.

    Latin words stay as they are. Line breaks are not expected.
    """
    spoken = part_words(rewrite(text, _RULES)).translate(_SIGN_NAMES)
    return only_words(spoken, pause="、")
