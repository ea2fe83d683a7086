"""How much memory this process may use."""

from pathlib import Path

_CGROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def usable_memory_bytes() -> int:
    """Give the memory of the machine, or of the container if that has less."""
    import psutil

    total_bytes: int = psutil.virtual_memory().total
    return min(total_bytes, *(_limit(path, total_bytes) for path in _CGROUP_LIMITS))


def _limit(path: Path, otherwise: int) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # there is none, or it says "max"
        return otherwise
