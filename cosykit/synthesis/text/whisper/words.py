"""Cut a text into the words that are encoded one by one.

Words take the space before them along: `Hello world` is `Hello` and ` world`. The
letters of a script without spaces are one word up to the next mark.
"""

import re
from functools import cache

# Unicode's white space; Python counts the separators 1C to 1F in as well.
_SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_LAST_NUMERAL = 0x1FFFF


def split_words(text: str) -> list[str]:
    """Cut a text into words; joined they are the text.

    Source: whisper/tokenizer.py get_encoding (its pattern)
    """
    return _pattern().findall(text)


@cache
def _pattern() -> re.Pattern[str]:
    numerals = _other_numerals()
    letter = f"[^\\W\\d_{numerals}]"
    number = f"[\\d{numerals}]"
    # An underscore is a word character to Python, but neither letter nor number.
    other = f"(?:_|(?!{letter}|{number})[^{_SPACE}])"
    return re.compile(
        f"'(?:[stmd]|re|ve|ll)| ?{letter}+| ?{number}+| ?{other}+"
        f"|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]+"
    )


def _other_numerals() -> str:
    r"""List the numbers that are neither letters nor `\d`, such as ² and Ⅳ."""
    return "".join(
        char
        for char in map(chr, range(0x80, _LAST_NUMERAL))
        if char.isnumeric() and not char.isdecimal() and not char.isalpha()
    )
