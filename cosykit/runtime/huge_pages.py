"""Gather this process's memory into huge pages, where Linux can.

A step of the language model reads all its weights once. From pages of 4 KiB two cores
of a virtual machine read 31 GB/s, from pages of 2 MiB 58: a token at int8 took 6.7 ms
instead of 7.3 to 8.4, a step of eight sequences 18 ms instead of 20. The flow and the
vocoder, which compute more on what they read, gained one per cent.
"""

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path

_MAPS = Path("/proc/self/maps")
# Weights lie in stretches of many megabytes; what is smaller is not worth a call.
_LEAST_BYTES = 4 * 2**20
# MADV_COLLAPSE, since Linux 6.1; older ones refuse it, and nothing is lost.
_COLLAPSE = 25


def gather_into_huge_pages() -> None:
    """Gather what is in memory now, in a second for each 500 MB or so.

    Memory that its owner keeps out of huge pages stays out. It grows by no more than a
    huge page at each end of a stretch.
    """
    if sys.platform != "linux":
        return
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for start, end in _stretches(_MAPS.read_text(encoding="utf-8")):
        # Best effort: a stretch may be gone by now, or there may be no free huge page.
        madvise(start, end - start, _COLLAPSE)


def _stretches(maps: str) -> Iterator[tuple[int, int]]:
    """Find private, writable memory that belongs to no file."""
    for line in maps.splitlines():
        addresses, access, _, _, inode, *name = line.split(maxsplit=5)
        start, end = (int(address, 16) for address in addresses.split("-"))
        is_special = bool(name) and name[0].startswith("[") and name[0] != "[heap]"
        is_ours = access == "rw-p" and inode == "0" and not is_special
        if is_ours and end - start >= _LEAST_BYTES:
            yield start, end
