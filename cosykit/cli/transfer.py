"""Show how a download goes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cosykit.cli.output import note

if TYPE_CHECKING:
    from rich.progress import TaskID

    from cosykit.hub.progress import Report, Transfer


@contextmanager
def shown_transfer() -> "Iterator[Report]":
    """Give what reports go to: bars on a terminal, now and then a line elsewhere."""
    if not sys.stderr.isatty():
        yield _Lines().report
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

        def report(news: "Transfer") -> None:
            show("total", news.total_arrived_bytes, news.total_bytes)
            show(news.path, news.arrived_bytes, news.size_bytes)

        yield report


class _Lines:
    """Writes a line for every tenth that arrives."""

    def __init__(self) -> None:
        self._tenths: int | None = None

    def report(self, news: "Transfer") -> None:
        tenths = 10 * news.total_arrived_bytes // max(1, news.total_bytes)
        # What was on the disk before is no news.
        if self._tenths is not None and tenths > self._tenths:
            note(
                f"Downloaded {tenths * 10} %: {news.total_arrived_bytes / 1e6:,.0f} of "
                f"{news.total_bytes / 1e6:,.0f} MB"
            )
        self._tenths = tenths
