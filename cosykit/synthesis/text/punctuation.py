"""Punctuation as models that read letters were taught it."""

import re

from cosykit.synthesis.text.scripts import CJK

_WIDE = f"{CJK}\u3000-\u303f\uff00-\uffef“”‘’…—"
_HAS_CJK = re.compile(f"[{CJK}]")
_SPACE = re.compile(f"(?<=[{_WIDE}]) +| +(?=[{_WIDE}])")
# What is a pause to a reader and nothing that was taught.
_ASIDE = re.compile(r" ?[(（)）【】—]+ ?")
_NEEDLESS_PAUSE = re.compile(
    "^，+|，+(?=[，。！？；：、…,.!?;:”])|(?<=[，。！？；：、…“])，+"
)
_CLOSING = "”’\"')）」』"
_FINAL = "。！？…!?."
_OPEN_END = re.compile(r"[，,、；;：:— -]+\Z")
_WIDE_CHARACTER = re.compile(f"[{_WIDE}]")


def plain(sentence: str) -> str:
    """Reduce a sentence with Han or kana to words, commas and full stops.

    Spaces around its letters go, brackets and dashes become commas. Other sentences
    stay as they are.
    """
    if not _HAS_CJK.search(sentence):
        return sentence
    with_commas = _ASIDE.sub("，", _SPACE.sub("", sentence))
    return _NEEDLESS_PAUSE.sub("", with_commas)


def closed(sentence: str) -> str:
    """End a sentence with a full stop, unless it has an end: of a heading, say."""
    ending = sentence.rstrip(_CLOSING)
    if not ending or ending[-1] in _FINAL:
        return sentence
    ended = _OPEN_END.sub("", sentence)
    stop = "。" if _HAS_CJK.match(ended.rstrip(_CLOSING)[-1:]) else "."
    return ended + stop


def joined(first: str, second: str) -> str:
    """Join two sentences, with a space between them where their script has one."""
    if not first or not second:
        return first + second
    is_wide = _WIDE_CHARACTER.match(first[-1]) or _WIDE_CHARACTER.match(second[0])
    return first + ("" if is_wide else " ") + second
