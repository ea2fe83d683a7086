"""Bring any text to ASCII letters, digits and the marks that the model knows."""

import unicodedata

MARKS = frozenset(';:,.!?—…"()“”')

_REPLACED = {
    "’": "'", "‘": "'", "ʼ": "'", "´": "'", "`": "'", "‛": "'",
    "„": "“", "«": "“", "»": "”", "「": "“", "」": "”", "『": "“", "』": "”",
    "《": "“", "》": "”", "〈": "“", "〉": "”",
    "–": "—", "―": "—", "−": "-", "‐": "-", "‑": "-", "〜": "—", "～": "—",
    "、": ", ", "，": ", ", "。": ". ", "．": ".", "！": "! ", "？": "? ",
    "：": ": ", "；": "; ", "（": " (", "）": ") ", "【": " (", "】": ") ",
    "·": " ", "・": " ",
    "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ø": "o",
    "Ø": "O", "đ": "d", "Đ": "D", "ð": "th", "Ð": "Th", "þ": "th", "Þ": "Th",
    "ł": "l", "Ł": "L", "ı": "i", "ŋ": "ng", "ə": "e",
    "€": " euros ", "£": " pounds ", "¥": " yuan ", "°": " degrees ", "×": " times ",
    "÷": " divided by ", "±": " plus or minus ", "½": " half ", "¼": " a quarter ",
}  # fmt: skip


def romanize(text: str) -> str:
    """Write a text in ASCII and `MARKS`.

    Accents are dropped. A letter of another alphabet is called by its name, a Chinese
    character by its pinyin; other symbols become spaces.
    """
    if text.isascii():
        return text
    return "".join(map(_romanized, unicodedata.normalize("NFC", text)))


def _romanized(character: str) -> str:
    if character.isascii() or character in MARKS:
        return character
    if character in _REPLACED:
        return _REPLACED[character]
    if unicodedata.category(character)[0] not in "LN":
        return "" if unicodedata.combining(character) else " "
    plain = unicodedata.normalize("NFKD", character)
    if any(part.isascii() and part.isalnum() for part in plain):
        return "".join(part for part in plain if part.isascii())
    digit = unicodedata.digit(character, None)
    return f" {_name(character)} " if digit is None else str(digit)


def _name(character: str) -> str:
    name = unicodedata.name(character, "")
    if name.startswith("CJK"):
        from pypinyin import lazy_pinyin

        name = unicodedata.normalize("NFKD", lazy_pinyin(character)[0])
    letters = (letter for letter in name.rpartition(" ")[2] if letter.isascii())
    return "".join(letters).lower().replace("-", " ") or "letter"
