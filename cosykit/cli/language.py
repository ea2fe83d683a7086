"""Take a language from the command line."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from cosykit.types import Language

Spoken = Annotated[
    str | None,
    typer.Option("--language", "-l", help="zh, en, ja, yue, ko; else it is detected."),
]


def spoken_language(code: str | None) -> "Language | None":
    """Recognise a language by its code or a tag such as `zh-CN`; None is no language.

    Raises:
        InputError: Nobody knows it here.
    """
    from cosykit.types import known_language

    return None if code is None else known_language(code)
