"""Chinese names in Latin letters, as an American newsreader says them.

Pinyin is recognised by what English does not write: x and q as initials, zh, finals
such as -ang, -ao and -ui, in a word that splits into syllables without a rest.
"""

import re
from functools import lru_cache

from cosykit.synthesis.text.english.stress import (
    PRIMARY,
    SECONDARY,
    with_stress,
)
from cosykit.synthesis.text.mandarin.pinyin import SYLLABLES

_TELLTALE = re.compile(
    "x|zh|q(?!ue)|j[iu]|yu|[aeo]ng|ao|ei|ou|iu|u[aio]|ia[no]|^(?:ch|sh)[aeiu]n?$"
)
_ENGLISH_END = re.compile("(?<![hiu])e$")
_INITIAL = re.compile("zh|ch|sh|[bcdfghjklmnpqrstwxyz]?")
_LONGEST = max(map(len, SYLLABLES))
_MOST_SYLLABLES = 4

_INITIALS = {
    "zh": "ʤ", "ch": "ʧ", "sh": "ʃ", "j": "ʤ", "q": "ʧ", "x": "ʃ", "z": "dz",
    "c": "ts", "r": "ɹ", "g": "ɡ", "y": "j",
}  # fmt: skip
_FINALS = {
    "a": "ɑ", "ai": "I", "an": "ɑn", "ang": "ɑŋ", "ao": "W", "e": "ʌ", "ei": "A",
    "en": "ʌn", "eng": "ʌŋ", "er": "ɑɹ", "i": "i", "ia": "jɑ", "ian": "jɛn",
    "iang": "jɑŋ", "iao": "jW", "ie": "jɛ", "in": "ɪn", "ing": "ɪŋ", "iong": "jʊŋ",
    "iu": "jO", "o": "O", "ong": "ʊŋ", "ou": "O", "u": "u", "ua": "wɑ", "uai": "wI",
    "uan": "wɑn", "uang": "wɑŋ", "ue": "wɛ", "ui": "wA", "un": "ʊn", "uo": "wO",
    "ü": "u", "üan": "wɛn", "üe": "wɛ", "ün": "un",
}  # fmt: skip
# Where the spelling does not say what is heard.
_SYLLABLES = {
    "zhi": "ʤɜɹ", "chi": "ʧɜɹ", "shi": "ʃɜɹ", "ri": "ɹɜɹ", "zi": "dzə", "ci": "tsə",
    "si": "sə", "wo": "wO", "wu": "wu", "yi": "ji", "yan": "jɛn", "ye": "jɛ",
    "yu": "ju", "yue": "jwɛ", "yuan": "juɛn", "yun": "jun", "xiao": "ʃW",
    "jiao": "ʤW", "qiao": "ʧW", "xia": "ʃɑ", "jun": "ʤun", "xun": "ʃun", "qun": "ʧun",
}  # fmt: skip


def chinese_name(word: str) -> str:
    """Read a word of the letters a to z if it looks like pinyin; else nothing."""
    if not _TELLTALE.search(word) or _ENGLISH_END.search(word):
        return ""
    syllables = _split(word)
    if not 1 <= len(syllables) <= _MOST_SYLLABLES:
        return ""
    *others, last = map(_phonemes, syllables)
    first = [with_stress(others[0], SECONDARY)] if others else []
    return "".join([*first, *others[1:], with_stress(last, PRIMARY)])


@lru_cache(maxsize=256)
def _split(word: str) -> tuple[str, ...]:
    """Split into as few syllables as can be; nothing where a rest is left."""
    if word in SYLLABLES and word not in ("m", "n", "ng", "hm", "hng"):
        return (word,)
    splits = [
        (word[:end], *rest)
        for end in range(min(_LONGEST, len(word) - 1), 0, -1)
        if (rest := _split(word[end:])) and _split(word[:end]) == (word[:end],)
    ]
    return min(splits, key=len, default=())


def _phonemes(syllable: str) -> str:
    if syllable in _SYLLABLES:
        return _SYLLABLES[syllable]
    match = _INITIAL.match(syllable)
    initial = match.group() if match else ""
    final = syllable[len(initial) :]
    return _INITIALS.get(initial, initial) + _FINALS.get(final, final)
