"""The user's own readings: those of the configuration, and those of a request.

| word     | value               | what happens                                      |
|----------|---------------------|---------------------------------------------------|
| `重庆`   | `chong2 qing4`      | pinyin, for words of Han characters               |
| `CosyKit`| `/kˈOzi kˈɪt/`      | IPA between slashes                               |
| `SQL`    | `sequel`            | other text, which is spoken in its place          |

The longest word wins. A word of Latin letters matches whole words only, in any case,
unless it has a capital after its first letter: `SQL` and `iPhone` match as written.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from cosykit.errors import ConfigError, InputError, quoted
from cosykit.synthesis.text.clean import plain_characters
from cosykit.synthesis.text.ipa import parse_ipa
from cosykit.synthesis.text.mandarin.pinyin import Syllable, parse_reading
from cosykit.synthesis.text.markup import URL
from cosykit.synthesis.text.scripts import HAN, KANA, is_speakable
from cosykit.types import MOST_PRONUNCIATIONS, Language, Span

_HAN = re.compile(f"[{HAN}]")
_KANA = re.compile(f"[{KANA}]")
_TONE = re.compile(r"[a-zü:]\d|[āáǎàēéěèīíǐìōóǒòūúǔùǖǘǚǜ]", re.I)
_LATIN = re.compile("[A-Za-z0-9]")
# First character of the private planes that `scripts` sets aside for each language.
_HELD_FROM: Mapping[Language, int] = {"zh": 0xF0000, "ja": 0xF8000, "en": 0x100000}
_MOST_READINGS = 0x8000 - 2 - MOST_PRONUNCIATIONS


class Pronunciations:
    """Finds the user's words, and keeps their readings safe from normalisation.

    Args:
        readings: Words and how to say them.
        base: More of them, which the others come before.

    Raises:
        ConfigError: A word or a reading cannot be used.
    """

    def __init__(
        self, readings: Mapping[str, str], base: "Pronunciations | None" = None
    ) -> None:
        if len(readings) > _MOST_READINGS:
            raise ConfigError(
                f"text.pronunciations has {len(readings)} words",
                hint=f"Keep at most {_MOST_READINGS}",
            )
        self._held: dict[str, Span] = dict(base._held) if base else {}
        self._spoken: dict[str, str] = dict(base._spoken) if base else {}
        self._spoken_in_any_case: dict[str, str] = (
            dict(base._spoken_in_any_case) if base else {}
        )
        for key, value in readings.items():
            word = plain_characters(key).strip()
            if not any(map(str.isalnum, word)):
                raise _unusable(key, "it has no letter or digit to find in a text")
            by_case = word[1:] != word[1:].lower()
            index = self._spoken if by_case else self._spoken_in_any_case
            index[word if by_case else word.lower()] = self._stand_in(key, word, value)
        self._lengths = _lengths_by_first([*self._spoken, *self._spoken_in_any_case])
        firsts = "".join(map(re.escape, self._lengths))
        pattern = f"{URL.pattern}|[{firsts}]"
        self._candidates = re.compile(pattern, re.I) if firsts else None

    def hold(self, text: str) -> str:
        """Put other text, or a held character, in the place of each of the words.

        Web addresses stay as they are.
        """
        return "".join(self._replaced(text)) if self._candidates else text

    def release(self, span: Span) -> Span:
        """Turn a span of one held character into the word with its reading."""
        return self._held.get(span.text, span)

    def _replaced(self, text: str) -> Iterator[str]:
        position = 0
        for start in self._starts(text):
            end = self._longest_word(text, start) if start >= position else start
            if end > start:
                yield text[position:start]
                yield self._find(text[start:end]) or ""
                position = end
        yield text[position:]

    def _starts(self, text: str) -> Iterator[int]:
        assert self._candidates is not None
        for candidate in self._candidates.finditer(text):
            is_address = candidate.end() > candidate.start() + 1
            if not is_address:
                yield candidate.start()

    def _longest_word(self, text: str, start: int) -> int:
        """Find where the longest word at a place ends; the place itself for none."""
        for length in self._lengths[text[start].lower()]:
            end = start + length
            if self._find(text[start:end]) and _is_whole_word(text, start, end):
                return end
        return start

    def _find(self, candidate: str) -> str | None:
        exact = self._spoken.get(candidate)
        return exact or self._spoken_in_any_case.get(candidate.lower())

    def _stand_in(self, key: str, word: str, value: str) -> str:
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] == "/":
            return self._hold_as(Span(word, _language(word), _ipa(key, value)))
        pinyin = _pinyin(key, word, value) if _HAN.search(word) else None
        if pinyin:
            return self._hold_as(Span(word, "zh", pinyin))
        spoken = plain_characters(value)
        if not is_speakable(spoken):
            raise _unusable(key, f"{quoted(value)} has nothing to speak")
        return " ".join(spoken.split())

    def _hold_as(self, span: Span) -> str:
        character = chr(_HELD_FROM[span.language] + len(self._held))
        self._held[character] = span
        return character


def _language(word: str) -> Language:
    if _KANA.search(word):
        return "ja"
    return "zh" if _HAN.search(word) else "en"


def _ipa(key: str, value: str) -> str:
    try:
        return f"/{parse_ipa(value[1:-1])}/"
    except InputError as error:
        raise _unusable(key, error.message) from error


def _pinyin(key: str, word: str, value: str) -> str | None:
    """Read a value as pinyin; None when it is other text."""
    has_tones = _TONE.search(value) is not None and not _HAN.search(value)
    try:
        syllables = parse_reading(value)
    except InputError as error:
        if has_tones:
            raise _unusable(key, error.message) from error
        return None
    if not has_tones and not _fits(syllables, word):
        return None
    if not has_tones:
        raise _unusable(key, f"{quoted(value)} has no tones")
    if not _fits(syllables, word):
        raise _unusable(key, f"{quoted(value)} has not one syllable a character")
    return " ".join(map(str, syllables))


def _fits(syllables: Sequence[Syllable], word: str) -> bool:
    characters = len(_HAN.findall(word))
    with_er = sum(syllable.rhotic for syllable in syllables)
    is_only_han = characters == len(word)
    return not is_only_han or characters in (len(syllables), len(syllables) + with_er)


def _lengths_by_first(words: Sequence[str]) -> dict[str, list[int]]:
    """Map the first character of the words to their lengths, the longest first."""
    lengths: dict[str, set[int]] = {}
    for word in words:
        lengths.setdefault(word[0].lower(), set()).add(len(word))
    return {first: sorted(found, reverse=True) for first, found in lengths.items()}


def _is_whole_word(text: str, start: int, end: int) -> bool:
    if end > len(text):
        return False
    before, after = text[start - 1 : start], text[end : end + 1]
    cuts_before = _LATIN.match(text[start]) and _LATIN.match(before)
    cuts_after = _LATIN.match(text[end - 1]) and _LATIN.match(after)
    return not (cuts_before or cuts_after)


def _unusable(key: str, reason: str) -> ConfigError:
    return ConfigError(
        f"text.pronunciations: the reading of {quoted(key)} cannot be used: {reason}",
        hint="Write pinyin with tones 1 to 5 (chong2 qing4) for Chinese, one syllable "
        "a character, IPA between slashes (/kˈOzi/), or other text to speak instead",
    )
