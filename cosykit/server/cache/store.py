"""What a place for finished speech can do."""

from typing import Protocol

from cosykit.server.cache.finished import FinishedSpeech


class Store(Protocol):
    """A place where finished speech is kept; of one event loop."""

    @property
    def size_bytes(self) -> int:
        """The memory that it takes in this process."""

    async def get(self, key: bytes) -> FinishedSpeech | None:
        """Look speech up."""

    async def put(self, key: bytes, speech: FinishedSpeech) -> None:
        """Keep speech, as far as there is room."""

    async def close(self) -> None:
        """Let go of it."""
