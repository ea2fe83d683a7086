"""Which language each part of a text is in.

Letters decide: kana are Japanese, Latin letters English; Han characters are Chinese,
unless kana stand in the same sentence or the whole text is Japanese. Digits and
symbols have no language of their own; they go with the words around them.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType

from cosykit.synthesis.text.clean import clean
from cosykit.synthesis.text.scripts import (
    CJK,
    HAN,
    HANGUL,
    HELD_CJK,
    HELD_LATIN,
    KANA,
    LATIN,
)
from cosykit.types import Language, Span

_LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {
        "<|zh|>": "zh",
        "<|en|>": "en",
        "<|ja|>": "ja",
        "<|yue|>": "yue",
        "<|ko|>": "ko",
    }
)
LANGUAGE_TAG = re.compile("|".join(map(re.escape, _LANGUAGES)))
"""A tag by which models are told the language of the text after it."""

# A full stop after a short word may only end an abbreviation.
_SENTENCE = re.compile(
    r"(?:[^。！？!?\n.]|\.(?!\s)|(?<![a-z]{3})(?<!\d)\.)+[。！？!?\n.\s]*|[。！？!?\n.]+\s*"
)
_CJK_LETTER = re.compile(f"[{CJK}]")
_HANGUL_LETTER = re.compile(f"[{HANGUL}]")
_KANA_LETTER = re.compile(f"[{KANA}]")
_LATIN_WORD = re.compile(f"[{LATIN}]+")
# Letters beside digits are units and models: they say nothing about the language, nor
# does a word before a Chinese colon, as in QQ：12345678.
_TELLING_WORD = re.compile(
    f"(?<![A-Za-z0-9°])[A-Za-z]{{2,}}(?![A-Za-z0-9：])|[{HELD_LATIN}]"
)
_HAN_RUN = re.compile(f"[{HAN}]+")
# Japanese standards have these too, but no Japanese sentence of today.
_CHINESE_ONLY = re.compile("[你您她妳們這嗎吧呢啦哪]")

# What has no CJK letter: Latin words with the digits and symbols among them.
_GAP = re.compile(f"[^{CJK}]+")
# Of a gap, what is English: from its first word, or the number before that, to its
# last, or to its last comma.
_NUMBER_BEFORE = r"(?:(?<![0-9.,:/¥$€£-])[0-9]{1,9}(?:[.,][0-9]{1,9})? )?"
_WORDS = re.compile(
    f"{_NUMBER_BEFORE}[{LATIN}](?:.*(?:[{LATIN}]\\S*|[,;:](?= ))|\\S*)", re.S
)
_LOWER_CASE_WORD = re.compile(
    r"(?<![A-Za-z0-9@_./:-])[a-z]{2,}(?![A-Za-z0-9@_/-]|:/|\.[A-Za-z0-9])"
)

_TOKEN = re.compile(
    f"(?P<held>[{HELD_CJK}{HELD_LATIN}])|(?P<han>[{HAN}]+)|(?P<kana>[{KANA}]+)"
    "|(?P<latin>[A-Za-z]+)"
)
_HELD = re.compile(f"([{HELD_CJK}{HELD_LATIN}])")
_OPENING = re.compile(r"[“（(\"']*\Z")


def main_language(text: str) -> Language:
    """Tell the language that most of a text is in; Mandarin when nothing tells.

    A text that begins with a tag such as `<|yue|>` is in that language.
    """
    tag = LANGUAGE_TAG.match(text.lstrip())
    if tag:
        return _LANGUAGES[tag.group()]
    return "ko" if is_korean(text) else main_language_of_clean(clean(text))


def is_korean(text: str) -> bool:
    """Tell whether Hangul has no less letters than other scripts have words."""
    hangul = len(_HANGUL_LETTER.findall(text))
    others = len(_CJK_LETTER.findall(text)) + len(_LATIN_WORD.findall(text))
    return hangul > 0 and hangul >= others


def main_language_of_clean(text: str) -> Language:
    """Tell the main language of a text that has been cleaned."""
    weights: dict[Language, int] = {"zh": 0, "en": 0, "ja": 0}
    for sentence in _SENTENCE.findall(text):
        letters = len(_CJK_LETTER.findall(sentence))
        weights[cjk_language(sentence, "zh")] += letters
        weights["en"] += len(_TELLING_WORD.findall(sentence))
    return max(weights, key=weights.__getitem__)


def cjk_language(sentence: str, main: Language) -> Language:
    """Tell the language of the Han characters of one sentence."""
    if main == "ja" or _KANA_LETTER.search(sentence):
        return "zh" if _is_chinese(sentence) else "ja"
    return "yue" if main == "yue" else "zh"


def _is_chinese(sentence: str) -> bool:
    if _CHINESE_ONLY.search(sentence):
        return True
    # The character set of Japanese has no simplified characters.
    return any(
        len(run.encode("euc_jis_2004", "ignore")) < 2 * len(run)
        for run in _HAN_RUN.findall(sentence)
    )


def zones(paragraph: str, main: Language) -> Iterator[tuple[str, Language]]:
    """Cut a paragraph into stretches whose numbers are read in one language.

    A Latin word or name in a Chinese sentence takes Chinese numbers (`iPhone 15` is
    iPhone 十五); a phrase of English takes English ones. Joined, the stretches are the
    paragraph.
    """
    pieces = (
        piece
        for sentence in _SENTENCE.findall(paragraph)
        for piece in _sentence_zones(sentence, main)
        if piece[0]
    )
    for language, group in groupby(pieces, key=itemgetter(1)):
        yield "".join(text for text, _ in group), language


def _sentence_zones(sentence: str, main: Language) -> Iterator[tuple[str, Language]]:
    if not _CJK_LETTER.search(sentence):
        is_english = main == "en" or _is_phrase(sentence, least_words=2)
        yield sentence, "en" if is_english and _LATIN_WORD.search(sentence) else main
        return
    cjk = cjk_language(sentence, main)
    position = 0
    for gap in _GAP.finditer(sentence):
        words = _WORDS.search(gap.group())
        if not words or not (main == "en" or _is_phrase(gap.group(), least_words=3)):
            continue
        # At an edge of the sentence no CJK letter is there to take the remainder.
        at_start, at_end = gap.start() == 0, gap.end() == len(sentence)
        start = 0 if at_start else gap.start() + words.start()
        end = len(sentence) if at_end else gap.start() + words.end()
        yield sentence[position:start], cjk
        yield sentence[start:end], "en"
        position = end
    yield sentence[position:], cjk


def _is_phrase(latin: str, least_words: int) -> bool:
    """Tell English from names, which are rarely written in lower case."""
    lower_case_words = len(_LOWER_CASE_WORD.findall(latin))
    words = len(_LATIN_WORD.findall(latin))
    return lower_case_words > 1 or (lower_case_words == 1 and words >= least_words)


def spans(sentence: str, main: Language) -> list[Span]:
    """Cut a sentence into its languages; joined, the spans are the sentence.

    Punctuation and digits go with the word before them, at the start of the sentence
    and in opening brackets and quotes with the word after. A held character is a span
    of its own.
    """
    runs = list(_runs(sentence, main)) or [(0, main)]
    ends = [start for start, _ in runs[1:]] + [len(sentence)]
    return [
        Span(text, language)
        for (start, language), end in zip(runs, ends, strict=True)
        for text in _HELD.split(sentence[start:end])
        if text
    ]


def _runs(sentence: str, main: Language) -> Iterator[tuple[int, Language]]:
    """Yield where each run of one language starts; held characters never join one."""
    cjk = cjk_language(sentence, main)
    before: Language | None = None
    was_held = False
    position = 0
    for token in _TOKEN.finditer(sentence):
        language = _language(token, cjk)
        is_held = token.lastgroup == "held"
        if is_held or was_held or language != before:
            between = sentence[position : token.start()]
            opening = _OPENING.search(between)
            start = token.start() - (len(opening.group()) if opening else 0)
            yield (start if before else 0), language
        before, was_held = language, is_held
        position = token.end()


def _language(token: re.Match[str], cjk: Language) -> Language:
    if token.lastgroup == "kana":
        return "ja"
    return "en" if _LATIN_WORD.match(token.group()) else cjk
