import sys
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
    # Below the size from which numpy asks for huge pages by itself.
    arrays = [np.ones(3 * 2**17) for _ in range(16)]
    before = bytes_in_huge_pages()
    gather_into_huge_pages()
    # How much the kernel can gather depends on how scattered its free memory is.
    assert bytes_in_huge_pages() > before
    assert all((array == 1).all() for array in arrays)
