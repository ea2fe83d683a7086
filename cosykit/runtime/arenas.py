"""Keep the memory of a process that serves for long from growing."""

import ctypes

# From glibc's malloc.h.
_M_ARENA_MAX = -8


def share_arenas() -> None:
    """Have all threads that start from now on allocate from two arenas.

    By itself glibc gives every thread an arena, up to eight for each core, and each
    keeps what was freed in it. A server's audio is made in one thread and encoded in
    others: 700 requests took it from 450 to 550 MB; with two arenas it stays at 400.
    Elsewhere there is nothing to do.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_ARENA_MAX, 2)
