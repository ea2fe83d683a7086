"""How much memory this process may use, and whether a run found too little."""

from pathlib import Path

_CGROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


# How the runtime and CUDA word it, in exceptions of no type of their own.
_SHORTAGES = (
    *("failed to allocate memory", "cannot allocate memory"),
    *("bad_alloc", "out of memory", "alloc_failed"),
)


def is_shortage(error: Exception) -> bool:
    """Tell whether the runtime lacked memory, on the machine or on a GPU."""
    message = str(error).lower()
    return any(words in message for words in _SHORTAGES)


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
