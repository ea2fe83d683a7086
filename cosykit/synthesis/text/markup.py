"""HTML and Markdown to the words they mark up."""

import html
import re
from collections.abc import Iterator

from cosykit.synthesis.text.scripts import CJK

URL_PARTS = r"(?<![A-Za-z])(?:https?|ftps?|wss?)://([A-Za-z0-9\-._~:/?#@!$&'()*+,;=%]+)"
"""Regular expression of a web address; its group is what follows the scheme."""
URL = re.compile(URL_PARTS)

_BLOCK_TAGS = (
    " address article aside blockquote body br dd details div dl dt figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 head header hr html li main nav ol option p pre"
    " section summary table tbody tfoot thead title tr ul "
)
_INLINE_TAGS = (
    " a abbr audio b base bdi bdo big button center cite code col colgroup data del dfn"
    " em embed font i iframe img input ins kbd label link map mark meta meter noscript"
    " object picture q rp rt ruby s samp script select small source span strike strong"
    " style sub sup svg td template textarea th time tt u var video wbr"
    # Speech markup that is not carried out is not read out either.
    " speak break prosody emphasis phoneme say-as voice lang sentence "
)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)(\s[^<>]*)?/?>|<[!?][A-Za-z][^<>]*>")
_ENTITY = re.compile(
    r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
)
_SILENT = (
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<script\b", re.I), re.compile(r"</script\s{0,9}>", re.I)),
    (re.compile(r"<style\b", re.I), re.compile(r"</style\s{0,9}>", re.I)),
)


def strip_html(text: str) -> str:
    """Remove tags and comments and resolve entities; block elements become lines."""
    if "<" in text:
        for opening, closing in _SILENT:
            text = "".join(_outside(text, opening, closing))
        text = _TAG.sub(_instead_of_tag, text)
    return _ENTITY.sub(lambda entity: html.unescape(entity.group()), text)


def _outside(
    text: str, opening: re.Pattern[str], closing: re.Pattern[str]
) -> Iterator[str]:
    position = 0
    for start in opening.finditer(text):
        if start.start() < position:
            continue
        end = closing.search(text, start.end())
        # An element that is never closed is no element; its text must not get lost.
        if end is None:
            break
        yield text[position : start.start()]
        position = end.end()
    yield text[position:]


def _instead_of_tag(tag: re.Match[str]) -> str:
    closing, name, attributes = tag.groups()
    if name is None:
        return ""
    if len(name) == 1 and (attributes or "").strip(" /") and "=" not in attributes:
        # if a<b and c>d
        return tag.group()
    name = f" {name.lower()} "
    if name in _BLOCK_TAGS:
        return "\n"
    if name == " td ":
        return " "
    known = name in _INLINE_TAGS
    # `<name>` may be a placeholder or a type argument, which is text.
    is_markup = known or closing or (attributes and "=" in attributes)
    return "" if is_markup else tag.group()


_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})")
# Before a number it means greater than.
_QUOTE = re.compile(r"[> \t]*>(?!\d)[ \t]?")
_BULLET = re.compile(r"[ \t]*[-*+•‣◦▪●○■□◆◇]\s+(?:\[[ xX]\]\s+)?")
_NUMBERED = re.compile(rf"[ \t]*(\d{{1,3}})(?:[.)][ \t]+(?=\S)|[.．](?=[{CJK}]))")
_FIRST_LETTER = re.compile(f"([{CJK}])|[A-Za-z]")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+")
_LINK_TARGET = re.compile(r" {0,3}\[[^\[\]]{1,99}\]:[ \t]*(?:<|https?:|/|#|\./)\S*$")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,32}\]:?")

_ADDRESS = r"\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?(?:[ \t][\"'][^\"'\n]*[\"'])?\)"
_IMAGE = re.compile(rf"!\[([^\[\]]*)\]{_ADDRESS}")
_LINK = re.compile(rf"\[([^\[\]]*)\](?:{_ADDRESS}|\[[^\[\]]*\])")
# As long as it cannot be two prices: $5和$6.
_MATHEMATICS = re.compile(
    r"(?<![A-Za-z0-9$\\])(\$\$?)(?=\S)([^$\n]{1,300})(?<=\S)\1(?![\d$])"
)
_AUTOLINK = re.compile(r"<((?:https?|ftp)://[^<>\s]+|[^<>\s@]+@[^<>\s@]+)>")
# An escaped character, an asterisk that multiplies, or a mark of emphasis.
_EMPHASIS = re.compile(
    r"\\[!-/:-@\[-`{-~]|(?<=[0-9])\*+(?=[0-9])|(?<= )\*(?= )"
    r"|\*+|~~+|(?<![A-Za-z0-9_])_+|_+(?![A-Za-z0-9_])"
)


def strip_markdown(text: str) -> str:
    """Remove Markdown and keep what a reader sees; each table row becomes a line."""
    lines = "\n".join(_plain_lines(text.split("\n")))
    # Links are looked for twice: one may enclose an image or another pair of brackets.
    for pattern in (_IMAGE, _LINK, _LINK, _AUTOLINK):
        lines = pattern.sub(r"\1", lines)
    return "".join(_without_emphasis(_MATHEMATICS.sub(r"\2", lines)))


def _plain_lines(lines: list[str]) -> Iterator[str]:
    in_fence = in_table = False
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            in_fence = not in_fence
            continue
        if in_fence:
            yield line
            continue
        in_table = "|" in line and (in_table or _is_separator(lines, number + 1))
        if _is_separator(lines, number) or _is_rule(line):
            yield ""
        elif in_table or _is_row(line):
            yield _row(line)
        else:
            yield _plain_line(line)


def _plain_line(line: str) -> str:
    if _LINK_TARGET.match(line):
        return ""
    line = _QUOTE.sub("", line, count=1) if line.lstrip(" \t").startswith(">") else line
    bullet = _BULLET.match(line)
    line = line[bullet.end() :] if bullet else line
    heading = _HEADING.match(line)
    if heading:
        line = line[heading.end() :].rstrip()
        bare = line.rstrip("#")
        line = bare if bare.endswith(" ") else line
    number = _NUMBERED.match(line)
    if number:
        rest = line[number.end() :]
        is_cjk = _FIRST_LETTER.search(rest)
        pause = "、" if is_cjk and is_cjk.group(1) else ", "
        line = f"{number.group(1)}{pause}{rest}"
    return _FOOTNOTE.sub("", line)


def _is_rule(line: str) -> bool:
    marks = line.replace(" ", "").replace("\t", "")
    return len(marks) > 2 and marks[0] in "-*_=" and not marks.strip(marks[0])


def _is_separator(lines: list[str], number: int) -> bool:
    if number >= len(lines):
        return False
    marks = lines[number]
    return "|" in marks and "-" in marks and not marks.strip("|-: \t")


def _is_row(line: str) -> bool:
    line = line.strip()
    return len(line) > 2 and line[0] == line[-1] == "|"


def _row(line: str) -> str:
    cells = filter(None, (cell.strip() for cell in line.split("|")))
    return ("，" if re.search(f"[{CJK}]", line) else ", ").join(cells)


def _without_emphasis(text: str) -> Iterator[str]:
    position = 0
    for address in URL.finditer(text):
        yield _EMPHASIS.sub(_instead_of_mark, text[position : address.start()])
        yield address.group()
        position = address.end()
    yield _EMPHASIS.sub(_instead_of_mark, text[position:])


def _instead_of_mark(mark: re.Match[str]) -> str:
    text = mark.group()
    if text[0] == "\\":
        return text[1]
    before = mark.string[mark.start() - 1 : mark.start()]
    multiplies = (
        text[0] == "*" and before.isascii() and (before.isdigit() or before == " ")
    )
    if not multiplies:
        return ""
    after = mark.string[mark.end() : mark.end() + 1]
    return text if (before == " ") == (after == " ") and after else ""
