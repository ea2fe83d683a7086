"""Show how a download goes, and the conversion after it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cosykit.cli.output import note

if TYPE_CHECKING:
    from rich.progress import TaskID

    from cosykit.hub.progress import Conversion, News, Transfer


@contextmanager
def shown_install() -> "Iterator[News]":
    """Give who hears the news: bars on a terminal, now and then a line elsewhere."""
    from cosykit.hub.progress import News

    if not sys.stderr.isatty():
        lines = _Lines()
        yield News(note, lines.transfer, lines.conversion)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        tasks: dict[str, TaskID] = {}

        def show(name: str, arrived_bytes: int, size_bytes: int) -> None:
            if name not in tasks:
                # What was on the disk before must not count as speed.
                tasks[name] = progress.add_task(name, completed=arrived_bytes)
            progress.update(tasks[name], completed=arrived_bytes, total=size_bytes)

        def transfer(news: "Transfer") -> None:
            show("total", news.total_arrived_bytes, news.total_bytes)
            show(news.path, news.arrived_bytes, news.size_bytes)

        def conversion(news: "Conversion") -> None:
            show("conversion", news.done_bytes, news.total_bytes)

        yield News(note, transfer, conversion)


class _Lines:
    """Writes a line for every tenth that arrives, and for every file that is made."""

    def __init__(self) -> None:
        self._tenths: int | None = None
        self._path = ""

    def conversion(self, news: "Conversion") -> None:
        if news.path != self._path:
            share = 100 * news.done_bytes // max(1, news.total_bytes)
            note(f"Converted {share} %, now {news.path}")
        self._path = news.path

    def transfer(self, news: "Transfer") -> None:
        tenths = 10 * news.total_arrived_bytes // max(1, news.total_bytes)
        # What was on the disk before is no news.
        if self._tenths is not None and tenths > self._tenths:
            note(
                f"Downloaded {tenths * 10} %: {news.total_arrived_bytes / 1e6:,.0f} of "
                f"{news.total_bytes / 1e6:,.0f} MB"
            )
        self._tenths = tenths
