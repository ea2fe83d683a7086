"""Characters as DashScope counts them: a hanzi is two, everything else one."""

import re

from cosykit.errors import TooLargeError
from cosykit.synthesis.text.scripts import HAN

MOST_A_MESSAGE = 20_000
MOST_A_TASK = 200_000

_HANZI = re.compile(f"[{HAN}\uf900-\ufaff]")


def count_characters(text: str) -> int:
    """Count the characters of a text."""
    return len(text) + len(_HANZI.findall(text))


def check_characters(characters: int, most: int, whose: str) -> None:
    """Refuse too long a text.

    Args:
        whose: What it belongs to, such as a message.

    Raises:
        TooLargeError: It has more characters than allowed.
    """
    if characters > most:
        raise TooLargeError(
            f"the text of {whose} has {characters} characters, {most} are allowed",
            hint="A hanzi counts two; split the text",
            param="text",
        )
