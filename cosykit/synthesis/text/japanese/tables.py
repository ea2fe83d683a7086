"""The tables in `data/` that are made to be edited."""

from pathlib import Path


def table_rows(path: Path) -> list[list[str]]:
    """Read a table: tabs between columns; a line that starts with `#` is a comment."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]
