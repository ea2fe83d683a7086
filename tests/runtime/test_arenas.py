"""The memory of a server: few arenas, however many threads."""

import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import ctypes, sys, threading
    from cosykit.runtime.arenas import share_arenas

    if sys.argv[1] == "shared":
        share_arenas()
    together = threading.Barrier(9)

    def allocate():
        kept = bytearray(100_000)
        together.wait()
        together.wait()

    threads = [threading.Thread(target=allocate) for _ in range(8)]
    for thread in threads:
        thread.start()
    together.wait()
    libc = ctypes.CDLL(None)
    libc.fdopen.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(libc.fdopen(1, b"w"))
    libc.malloc_info(0, stream)
    libc.fflush(stream)
    together.wait()
"""


def arenas(way: str) -> int:
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), way]
    info = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return info.count("<heap nr=")


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only glibc has arenas to share"
)
def test_threads_share_two_arenas() -> None:
    assert arenas("usual") > 2
    assert arenas("shared") <= 2
