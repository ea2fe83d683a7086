"""What is not hanzi: punctuation, letters and digits, in the model's symbols."""

MARKS = {
    "，": ", ", "、": ", ", ",": ", ", "。": ". ", ".": ". ", "．": ". ",
    "！": "! ", "!": "! ", "？": "? ", "?": "? ", "：": ": ", ":": ": ",
    "；": "; ", ";": "; ", "…": "… ", "—": "— ", "–": "— ", "―": "— ",
    "“": " “", "”": "” ", "「": " “", "」": "” ", "『": " “", "』": "” ",
    "《": " “", "》": "” ", "〈": " “", "〉": "” ", "【": " “", "】": "” ",
    "（": " (", "）": ") ", "(": " (", ")": ") ",
}  # fmt: skip
"""Marks as the model learnt them, with their spaces."""

DIGITS = str.maketrans("0123456789", "零一二三四五六七八九")

_LETTERS = {
    "a": "ˈA", "b": "bˈi", "c": "sˈi", "d": "dˈi", "e": "ˈi", "f": "ˈɛf",
    "g": "ʤˈi", "h": "ˈAʧ", "i": "ˈI", "j": "ʤˈA", "k": "kˈA", "l": "ˈɛl",
    "m": "ˈɛm", "n": "ˈɛn", "o": "ˈO", "p": "pˈi", "q": "kjˈu", "r": "ˈɑɹ",
    "s": "ˈɛs", "t": "tˈi", "u": "jˈu", "v": "vˈi", "w": "dˈʌbəlju", "x": "ˈɛks",
    "y": "wˈI", "z": "zˈi",
}  # fmt: skip


def spell(letters: str) -> str:
    """Spell Latin letters by their English names."""
    return " ".join(_LETTERS[letter] for letter in letters.lower())
