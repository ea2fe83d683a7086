"""Speech that is kept once it is whole, while it comes piece by piece."""

# What Python takes for a piece beside its bytes.
_OVERHEAD_BYTES = 64


class Room:
    """Memory that all speech under way has in common."""

    def __init__(self, size_bytes: int) -> None:
        self._size_bytes = size_bytes
        self.taken_bytes = 0

    def take(self, size_bytes: int) -> bool:
        """Take a part, if there is as much."""
        if self.taken_bytes + size_bytes > self._size_bytes:
            return False
        self.taken_bytes += size_bytes
        return True

    def give_back(self, size_bytes: int) -> None:
        """Return what was taken."""
        self.taken_bytes -= size_bytes


class Collecting:
    """The pieces of one speech; without them all it is worth nothing.

    Args:
        limit_bytes: Most that it may take of the room.
    """

    def __init__(self, room: Room, limit_bytes: int) -> None:
        self._room, self._limit_bytes = room, limit_bytes
        self._pieces: list[bytes] | None = []
        self._taken_bytes = 0

    def add(self, piece: bytes) -> None:
        """Take a piece, or give all of it up where there is no room."""
        if self._pieces is None:
            return
        size_bytes = len(piece) + _OVERHEAD_BYTES
        fits = self._taken_bytes + size_bytes <= self._limit_bytes
        if fits and self._room.take(size_bytes):
            self._pieces.append(piece)
            self._taken_bytes += size_bytes
        else:
            self.close()

    def joined(self) -> bytes:
        """Give all of it; empty where it was given up."""
        return b"".join(self._pieces or ())

    def close(self) -> None:
        """Forget the pieces."""
        self._pieces = None
        self._room.give_back(self._taken_bytes)
        self._taken_bytes = 0
