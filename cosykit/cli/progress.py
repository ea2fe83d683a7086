"""Show how far a long text has been spoken."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cosykit.types import AudioChunk

# A text below this is spoken in some four seconds; a bar would only flicker. A hanzi,
# which takes three bytes, is spoken as long as three letters are.
_LONG_BYTES = 200


def with_progress(chunks: "Iterator[AudioChunk]", text: str) -> "Iterator[AudioChunk]":
    """Pass chunks on, with a bar on the terminal when the text is long.

    The bar goes by how much of the text has been heard. Numbers and symbols are written
    out before they are spoken, so it may arrive a little early.
    """
    if len(text.encode(errors="replace")) < _LONG_BYTES or not sys.stderr.isatty():
        yield from chunks
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("Speaking"),
        BarColumn(),
        TextColumn("{task.fields[audio]} of audio"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=len(text), audio="0:00")
        spoken_s = 0.0
        for chunk in chunks:
            spoken_s += chunk.duration_s
            minutes, seconds = divmod(round(spoken_s), 60)
            bar.update(task, advance=len(chunk.text), audio=f"{minutes}:{seconds:02}")
            yield chunk
