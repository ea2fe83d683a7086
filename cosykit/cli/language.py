"""Take a language from the command line."""

from typing import TYPE_CHECKING, Annotated

import typer

from cosykit.cli.choice import chosen

if TYPE_CHECKING:
    from cosykit.types import Language

Spoken = Annotated[
    str | None,
    typer.Option("--language", "-l", help="zh, en, ja, yue, ko; else it is detected."),
]


def known_language(code: str | None) -> "Language | None":
    """Recognise a language by its code; None is no language.

    Raises:
        InputError: Nobody knows it here.
    """
    from typing import get_args

    from cosykit.types import Language

    known: tuple[Language, ...] = get_args(Language)
    return None if code is None else chosen(code, known, "language")
