"""The option that names a language."""

from typing import Annotated

import typer

Spoken = Annotated[
    str | None,
    typer.Option("--language", "-l", help="zh, en, ja, yue, ko; else it is detected."),
]
