"""`cosykit config`: what is in force and where each value came from."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cosykit.cli.context import Json, load_configuration
from cosykit.cli.output import print_json, print_table

if TYPE_CHECKING:
    from cosykit.config import LoadedSettings, Origin


def config(context: typer.Context, json: Json = False) -> None:
    """Show every setting in force and where it came from.

    API keys are not shown, only how many there are.
    """
    loaded = load_configuration(context)
    if json:
        print_json(
            {
                "file": str(loaded.file) if loaded.file else None,
                "settings": {
                    name: {"value": value, "origin": str(loaded.origins[name])}
                    for name, value in _plain_values(loaded).items()
                },
            }
        )
        return
    typer.echo(f"Configuration file: {loaded.file or 'none'}\n")
    print_table(
        ("setting", "value", "from"),
        [
            (name, _spell(value), _short(loaded.origins[name]))
            for name, value in _plain_values(loaded).items()
        ],
    )


def _short(origin: "Origin") -> str:
    """Name a line of the file without its folder, which stands above the table."""
    return Path(origin.place).name if origin.kind == "file" else str(origin)


def _plain_values(loaded: "LoadedSettings") -> dict[str, object]:
    """Map dotted names to values as JSON has them, with secrets masked."""
    from cosykit.config.keys import all_keys, value_of

    return {
        name: _plain(value_of(loaded.settings, key)) for name, key in all_keys().items()
    }


def _plain(value: object) -> object:
    from cosykit.config.schema import Section

    if isinstance(value, Section):
        return {name: _plain(inner) for name, inner in value}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str | int | float | bool | dict | None):
        return value
    return str(value)  # a path, or a secret, which masks itself


def _spell(value: object) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
