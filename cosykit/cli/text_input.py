"""Take the text to speak from the command line, a file or standard input."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from cosykit.cli.output import note
from cosykit.errors import InputError, TooLargeError

MAX_TEXT_CHARS = 200_000
"""About 13 hours of Mandarin; its WAV file still stays below the format's 4 GiB."""

# A character takes at most four in UTF-8; what is longer is not read to its end.
_ENOUGH_BYTES = 4 * MAX_TEXT_CHARS + 1
_BOM = b"\xef\xbb\xbf"
_UTF_16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_STANDARD_INPUT = Path("-")


def read_text(words: Sequence[str], file: Path | None) -> str:
    """Read the text to speak.

    Args:
        words: Arguments; they are joined with spaces. A single `-` is standard input.
        file: The file to read instead; `-` is standard input.

    Raises:
        InputError: There is no text, or two, or it is not valid UTF-8, or the file
            cannot be read.
        TooLargeError: It is longer than `MAX_TEXT_CHARS`.
    """
    if words and file is not None:
        raise InputError(
            "there is a text on the command line and a file as well",
            hint="Give either a text or -f FILE",
        )
    if words and list(words) != ["-"]:
        text = _without_broken_bytes(" ".join(words))
        if _is_file(text):
            note(f"These words are spoken; the file of that name is read by -f {text}")
    elif file is None or file == _STANDARD_INPUT:
        text = _read_standard_input(asked=bool(words) or file is not None)
    else:
        text = _read_file(file)
    if len(text) > MAX_TEXT_CHARS:
        raise _too_long()
    if not text.strip():
        raise InputError("the text is empty", hint="Give a text, -f FILE, or pipe one")
    return text


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # too long for a name, or with a NUL
        return False


def _without_broken_bytes(text: str) -> str:
    """Refuse an argument with bytes that the terminal's encoding does not know."""
    try:
        text.encode()
    except UnicodeEncodeError:  # Python hands such bytes on as lone surrogates
        return _decode(os.fsencode(text), "the text")
    return text


def _read_standard_input(*, asked: bool) -> str:
    if sys.stdin.isatty() and not asked:
        raise InputError(
            "there is no text to speak",
            hint='Give it as an argument, such as cosykit say "Hello", with -f FILE, '
            "or through a pipe",
        )
    return _decode(sys.stdin.buffer.read(_ENOUGH_BYTES), "standard input")


def _read_file(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            content = stream.read(_ENOUGH_BYTES)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot read {file}: {reason}", hint="Check the path and its permissions"
        ) from error
    return _decode(content, str(file))


def _decode(content: bytes, source: str) -> str:
    if len(content) == _ENOUGH_BYTES:
        raise _too_long()
    try:
        return content.removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        skipped = len(_BOM) if content.startswith(_BOM) else 0
        raise InputError(
            f"{source} is not valid UTF-8 at byte {error.start + skipped}",
            hint=_conversion(content, source),
        ) from error


def _conversion(content: bytes, source: str) -> str:
    """Say how a text in the encodings that Windows writes in China becomes UTF-8."""
    encoding = "UTF-16" if content.startswith(_UTF_16_BOMS) else "GB18030"
    if encoding != "UTF-16" and b"\0" in content:
        return "It seems to be no text; give a text file"
    if not _is_file(source):
        return f"Convert it, for example with: iconv -f {encoding} -t UTF-8"
    file = shlex.quote(source)
    return f"Convert it on the way: iconv -f {encoding} -t UTF-8 {file} | cosykit say"


def _too_long() -> TooLargeError:
    return TooLargeError(
        f"the text is longer than {MAX_TEXT_CHARS:,} characters",
        hint="Split it, one file a chapter",
    )
