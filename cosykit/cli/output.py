"""Print results: tables for people, JSON for programs."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import typer

from cosykit.cli.called import as_called


def print_json(value: object) -> None:
    """Print a value as JSON, with its characters as they are."""
    import json

    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    styles: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> None:
    """Print a table; in a pipe each row stays on one line, however long.

    Args:
        styles: By column, the style of some of its values.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0)
    )
    for number, column in enumerate(columns):
        # The first one holds what is copied into commands.
        table.add_column(column, overflow="fold", no_wrap=number == 0)
    for row in rows:
        cells = zip(columns, row, strict=True)
        table.add_row(
            *(
                Text(cell, styles.get(column, {}).get(cell, ""))
                for column, cell in cells
            )
        )
    width = None if sys.stdout.isatty() else 10_000
    Console(width=width, highlight=False).print(table)


def note(line: str) -> None:
    """Tell people something beside the result, on standard error."""
    typer.echo(as_called(line), err=True)
