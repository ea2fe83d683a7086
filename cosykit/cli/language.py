"""Take a language from the command line."""

from typing import TYPE_CHECKING, Annotated

import typer

from cosykit.errors import InputError

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

    if code is None:
        return None
    known: tuple[Language, ...] = get_args(Language)
    for language in known:
        if language == code.lower():
            return language
    raise InputError(
        f"unknown language {code!r}",
        hint=f"Known: {', '.join(known)}",
        param="language",
    )
