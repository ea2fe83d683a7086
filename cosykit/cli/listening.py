"""Hear speech while it is written to a file."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Full, Queue
from threading import Event

from cosykit.audio.play import play
from cosykit.types import AudioChunk

# Chunks made ahead of the player: some minutes, so that memory stays bounded.
_AHEAD = 100
_POLL_S = 0.2


class _AbandonedError(Exception):
    """Ends the player when nobody will hear the rest."""


def played(chunks: Iterator[AudioChunk]) -> Iterator[AudioChunk]:
    """Pass chunks on while a player plays them, and wait for the end of both.

    A listener who closes the player ends only the playing. Closing this iterator early
    stops the player.

    Raises:
        ResourceError: There is no player, or it fails.
    """
    waiting: Queue[AudioChunk | None] = Queue(_AHEAD)
    abandoned = Event()

    def heard() -> Iterator[AudioChunk]:
        while (chunk := waiting.get()) is not None and not abandoned.is_set():
            yield chunk
        if abandoned.is_set():
            raise _AbandonedError

    def hand_over(chunk: AudioChunk | None) -> None:
        while not player.done():
            try:
                return waiting.put(chunk, timeout=_POLL_S)
            except Full:
                continue
        player.result()

    with ThreadPoolExecutor(1, "cosykit-player") as pool:
        try:
            player = pool.submit(play, heard())
            for chunk in chunks:
                hand_over(chunk)
                yield chunk
            hand_over(None)
            player.result()
        except BaseException:
            abandoned.set()
            with suppress(Full):
                waiting.put_nowait(None)  # wakes a player that waits for more
            raise
