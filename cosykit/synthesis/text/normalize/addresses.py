"""Web addresses, e-mail addresses, paths, file names and handles, read aloud.

The words for their signs differ between languages; each language makes its rules with
`address_rules`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from cosykit.synthesis.text.clean import plain_characters
from cosykit.synthesis.text.markup import URL_PARTS
from cosykit.synthesis.text.normalize.rules import Rule, one_of, rule
from cosykit.synthesis.text.scripts import CJK

_TOP_LEVEL = one_of(
    "com org net edu gov info biz cn io ai dev app co me cc tv jp uk de fr eu us hk tw"
    " sg kr ru au ca xyz top site tech cloud"
)
_EXTENSIONS = one_of(
    "txt pdf doc docx xls xlsx ppt pptx csv json yaml yml toml xml html htm md rst py"
    " js ts jsx tsx css vue java c cpp hpp cc rs rb php sh bat exe dll zip tar gz"
    " rar 7z jpg jpeg png gif svg webp bmp mp3 mp4 wav flac ogg opus m4a mov mkv avi"
    " iso apk dmg deb rpm whl log ini cfg conf env lock onnx bin pt"
)
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = rf"(?:{_LABEL}\.){{1,8}}(?:{_TOP_LEVEL})(?![A-Za-z0-9])"
_TAIL = r"(?::\d{1,5})?(?:[/?#][A-Za-z0-9\-._~:/?#@!$&'()*+,;=%]*)?"
_START = r"(?<![A-Za-z0-9@._/-])"
_TRAILING = ".,;:!?'\""

_PART = re.compile(r"[A-Za-z]+|\d+|[^A-Za-z\d]", re.ASCII)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
# What people spell: no vowel, one letter, or a country or format of few letters.
_SPELT = re.compile(r"[^aeiouAEIOU]{1,6}|[a-z]|io|ai|uk|us|eu|au|docx|pptx|exe|avi|iso")


@dataclass(frozen=True, slots=True)
class AddressWords:
    """How a language reads addresses.

    Attributes:
        signs: Words for the signs; others are passed over.
        spell: Reads digits one by one.
        hashtag: What is said before a topic.
        spaced: Whether words are set apart by spaces.
    """

    signs: Mapping[str, str]
    spell: Callable[[str], str]
    hashtag: str
    spaced: bool


def address_rules(words: AddressWords) -> Sequence[Rule]:
    """Make the rules that read addresses in one language."""

    def read(match: re.Match[str]) -> str:
        return _read(match, words)

    def topic(match: re.Match[str]) -> str:
        return words.hashtag + _CAMEL.sub(" ", match.group(1))

    return (
        rule(URL_PARTS, read),
        rule(rf"{_START}(?:mailto:)?([A-Za-z0-9][\w.+-]{{0,63}}@{_HOST})", read),
        rule(rf"{_START}({_HOST}{_TAIL})", read),
        rule(
            rf"{_START}((?:~|\.{{1,2}})?/?(?:[\w-][\w.-]{{0,63}}/){{0,8}}"
            rf"\w[\w-]*(?:\.[\w-]+){{0,8}}\.(?:{_EXTENSIONS}))\b",
            read,
        ),
        rule(rf"(?<=[{CJK}])(\.(?:{_EXTENSIONS}))\b", read),
        rule(r"(?<![\w.)\]])((?:~|\.{1,2})?/\w[\w.-]*(?:/[\w.-]*)+)", read),
        rule(r"(?<![\w])([A-Z]:\\[\w.\\-]*)", read),
        rule(r"(?<![\w#&])#([A-Za-z]\w{0,60})#?", topic),
        rule(r"(?<![\w.])(@[A-Za-z]\w{0,60})", read),
    )


def _read(match: re.Match[str], words: AddressWords) -> str:
    written = match.group(1)
    address = written.rstrip(_TRAILING)
    if address.endswith(")") and "(" not in address:
        address = address[:-1]
    parts = _PART.findall(plain_characters(unquote(address.rstrip("/"))))
    spoken = filter(None, (_part(part, words) for part in parts))
    reading = (" " if words.spaced else "").join(spoken)
    return reading + written[len(address) :]


def _part(part: str, words: AddressWords) -> str:
    if part.isdecimal():
        return words.spell(part)
    if part.isascii() and not part.isalpha():
        return words.signs.get(part, "")
    if _SPELT.fullmatch(part):
        return part.upper()
    return _CAMEL.sub(" ", part)
