"""Pinyin syllables in the symbols that the embedded model was trained on.

The model heard Mandarin as broad IPA with one arrow a tone, placed after the vowel
that carries it. Source: misaki transcription.py and zh.py (hexgrad/misaki, Apache-2.0).
"""

from functools import lru_cache

from cosykit.synthesis.text.mandarin.pinyin import NEUTRAL, Syllable

_TONES = {1: "→", 2: "↗", 3: "↓", 4: "↘", 5: ""}

_INITIALS = {
    "zh": "ꭧ", "ch": "ꭧʰ", "sh": "ʂ", "b": "p", "p": "pʰ", "m": "m", "f": "f",
    "d": "t", "t": "tʰ", "n": "n", "l": "l", "g": "k", "k": "kʰ", "h": "x",
    "j": "ʨ", "q": "ʨʰ", "x": "ɕ", "r": "ɻ", "z": "ʦ", "c": "ʦʰ", "s": "s",
}  # fmt: skip
"""Two letters first: the first initial that fits is the right one."""

# 0 marks the place of the tone.
_FINALS = {
    "a": "a0", "ai": "ai0", "an": "a0n", "ang": "a0ŋ", "ao": "au0", "e": "ɤ0",
    "ei": "ei0", "en": "ə0n", "eng": "ə0ŋ", "er": "ɚ0", "ê": "ɛ0",
    "i": "i0", "ia": "ja0", "ian": "jɛ0n", "iang": "ja0ŋ", "iao": "jau0",
    "ie": "je0", "in": "i0n", "ing": "i0ŋ", "iong": "jʊ0ŋ", "iu": "jou0",
    "o": "wo0", "ong": "ʊ0ŋ", "ou": "ou0",
    "u": "u0", "ua": "wa0", "uai": "wai0", "uan": "wa0n", "uang": "wa0ŋ",
    "ui": "wei0", "un": "wə0n", "uo": "wo0",
    "ü": "y0", "üan": "ɥɛ0n", "üe": "ɥe0", "ün": "y0n",
}  # fmt: skip

# Syllables without an initial that do not follow from the finals, and interjections.
_WHOLE = {
    "o": "ɔ0", "wo": "wo0", "yo": "jɔ0", "yi": "i0", "yin": "i0n", "ying": "i0ŋ",
    "ye": "je0", "yan": "jɛ0n", "you": "jou0", "yong": "jʊ0ŋ", "yu": "y0",
    "yue": "ɥe0", "yuan": "ɥɛ0n", "yun": "y0n", "wu": "u0", "m": "m0", "n": "n0",
    "ng": "ŋ0", "hm": "hm0", "hng": "hŋ0",
}  # fmt: skip

# The model learnt a melted 儿 with the tone of a full one. Without it whisper-base
# hears 一点儿 as 12: it missed 9.5 % (zf_xiaoxiao) and 10.7 % (zm_yunxi) of 84
# syllables, with it 1.2 % and 6.0 %.
_MELTED_ER = "ɚ↗"

_AFTER_HISSING = frozenset(("zh", "ch", "sh", "r", "z", "c", "s"))
_FRONT_ROUNDED = {"u": "ü", "uan": "üan", "ue": "üe", "un": "ün"}


@lru_cache(maxsize=4096)
def symbols(syllable: Syllable) -> str:
    """Write a syllable in the model's symbols."""
    # The model heard neutral syllables but read their full tones; without them it is
    # less clear: 早上 came out as 早山, 墙上 as 墙伤, 护士 as 户时 (character errors of
    # six sentences with such words 5.4 and 8.1 %, with the tones 1.4 and 2.7 %).
    tone = syllable.full_tone if syllable.tone == NEUTRAL else syllable.tone
    written = _template(syllable.base).replace("0", _TONES[tone])
    return written + _MELTED_ER if syllable.rhotic else written


def _template(base: str) -> str:
    if base in _WHOLE:
        return _WHOLE[base]
    if base[0] == "y":
        return "j" + _FINALS[base[1:]]
    if base[0] == "w":
        return "w" + _FINALS[base[1:]]
    initial = next((start for start in _INITIALS if base.startswith(start)), "")
    final = base[len(initial) :]
    if initial in _AFTER_HISSING and final == "i":
        return _INITIALS[initial] + "ɨ0"
    if initial and initial in "jqx":
        final = _FRONT_ROUNDED.get(final, final)
    return _INITIALS.get(initial, "") + _FINALS[final]
