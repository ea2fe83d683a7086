"""The writing systems: which characters belong to which, and which can be spoken."""

import re
import unicodedata
from functools import cache

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U000323af"
KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
HANGUL = "\u1100-\u11ff\u3131-\u3163\u3165-\u318e\uac00-\ud7a3"
# A stretch with the user's own reading travels as one private character, whose plane
# says with which language it goes. Cleaning leaves no other private characters.
HELD_CJK = "\U000f0000-\U000ffffd"
HELD_LATIN = "\U00100000-\U0010fffd"

CJK = HAN + KANA + HELD_CJK
LATIN = "A-Za-z" + HELD_LATIN
"""Character classes, for use between the brackets of a regular expression."""

_SPEAKABLE = re.compile(f"[{CJK}{HANGUL}{LATIN}0-9]")
_FOREIGN_RUN = re.compile(r"[^\W\d_\x00-\x7f" + HAN + KANA + "]+")

# Letters that Unicode does not take apart into a plain letter and its marks.
_PLAIN_LETTERS = str.maketrans(
    {
        "ß": "ss",
        "ẞ": "SS",
        "æ": "ae",
        "Æ": "Ae",
        "œ": "oe",
        "Œ": "Oe",
        "ø": "o",
        "Ø": "O",
        "ð": "d",
        "Ð": "D",
        "đ": "d",
        "Đ": "D",
        "þ": "th",
        "Þ": "Th",
        "ł": "l",
        "Ł": "L",
        "ħ": "h",
        "Ħ": "H",
        "ı": "i",
        "ŋ": "ng",
        "ſ": "s",
    }
)
_CYRILLIC = {
    **dict(zip("абвгдеёзийклмнопрстуфыэ", "abvgdeezijklmnoprstufye", strict=True)),
    **dict(zip("іїґў", "iigu", strict=True)),
    "ж": "zh",
    "х": "kh",
    "ц": "ts",
    "ч": "ch",
    "ш": "sh",
    "щ": "shch",
    "ъ": "",
    "ь": "",
    "ю": "yu",
    "я": "ya",
    "є": "ye",
}
_GREEK = {
    **dict(zip("αβγδεζηικλμνξοπρσςτυω", "avgdeziiklmnxoprsstyo", strict=True)),
    "θ": "th",
    "φ": "f",
    "χ": "ch",
    "ψ": "ps",
}


def is_speakable(text: str) -> bool:
    """Tell whether a text has a letter or digit that we can speak."""
    return _SPEAKABLE.search(text) is not None


def has_letters(text: str) -> bool:
    """Tell whether a text has a letter that we can speak."""
    return re.search(f"[{CJK}{LATIN}]", text) is not None


def foreign_script(text: str) -> str | None:
    """Name the script of the first word that no language of ours writes."""
    for run in _FOREIGN_RUN.finditer(text):
        if not _is_symbol(run.group()):
            return unicodedata.name(run.group()[0], "UNKNOWN").split()[0].title()
    return None


def fold_latin(text: str) -> str:
    """Write accented Latin letters plainly: `café` as `cafe`."""
    return _FOREIGN_RUN.sub(lambda run: "".join(map(_plain, run.group())), text)


@cache
def _plain(char: str) -> str:
    folded = char.translate(_PLAIN_LETTERS)
    base = unicodedata.normalize("NFKD", folded)[:1] if folded == char else folded
    return base if base.isascii() else char


def romanize(text: str) -> str:
    """Write Cyrillic, Greek and Hangul words in Latin letters, and drop other scripts.

    Meant for foreign words in a text of ours: a name is then roughly heard instead of
    being passed over. A lone Greek letter is a symbol and stays.
    """
    return _FOREIGN_RUN.sub(lambda run: _romanized_run(run.group()), text)


def _is_symbol(run: str) -> bool:
    return len(run) == 1 and "α" <= run.lower() <= "ω"


def _romanized_run(run: str) -> str:
    if _is_symbol(run):
        return run
    latin = "".join(map(_latin, run))
    return latin.capitalize() if run[0].isupper() else latin


@cache
def _latin(letter: str) -> str:
    name = unicodedata.name(letter, "")
    if name.startswith("HANGUL SYLLABLE "):
        return name.removeprefix("HANGUL SYLLABLE ").lower()
    base = unicodedata.normalize("NFD", letter.lower())[0]
    lower = letter.lower()
    return _CYRILLIC.get(lower) or _CYRILLIC.get(base) or _GREEK.get(base, "")
