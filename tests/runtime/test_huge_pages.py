import sys
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from pathlib import Path

import numpy as np
import pytest

from cosykit.runtime.huge_pages import gather_into_huge_pages

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="of Linux only")


def bytes_in_huge_pages() -> int:
    rollup = Path("/proc/self/smaps_rollup").read_text(encoding="utf-8")
    line = next(n for n in rollup.splitlines() if n.startswith("AnonHugePages"))
    return int(line.split()[1]) * 1024


def has_collapse() -> bool:
    release = Path("/proc/sys/kernel/osrelease").read_text(encoding="utf-8")
    major, minor = (int(n) for n in release.split("-")[0].split(".")[:2])
    return (major, minor) >= (6, 1) and Path(
        "/sys/kernel/mm/transparent_hugepage"
    ).exists()


def test_memory_keeps_its_contents() -> None:
    array = np.arange(2_000_000)
    gather_into_huge_pages()
    assert (array == np.arange(2_000_000)).all()


@pytest.mark.skipif(not has_collapse(), reason="this system has no MADV_COLLAPSE")
def test_large_memory_lies_in_huge_pages() -> None:
    # New memory, of which nothing can lie in huge pages yet by luck.
    memory = mmap(-1, 48 * 2**20, flags=MAP_PRIVATE | MAP_ANONYMOUS)
    array = np.frombuffer(memory, np.float64)
    array[:] = 1
    before = bytes_in_huge_pages()
    gather_into_huge_pages()
    assert bytes_in_huge_pages() >= before + array.nbytes // 3
    assert (array == 1).all()
