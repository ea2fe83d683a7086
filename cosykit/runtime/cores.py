"""How many cores this process may use, and what they can do."""

import os
import platform
from functools import cache
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
# The instruction sets that decide the speed of int8 and fp32 products.
_FEATURES = (
    *("avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8"),
    *("asimddp", "i8mm"),
)


def usable_cores() -> int:
    """Count the cores that affinity and the container's CPU quota leave us, at least 1.

    Hyper-threads do not count: two on one core share its multipliers.
    """
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    return max(1, min(allowed, _physical_cores(), _quota()))


def _physical_cores() -> int:
    import psutil

    return psutil.cpu_count(logical=False) or os.cpu_count() or 1


def _quota() -> int:
    """Read the cgroup limit, v2 then v1, rounded up to whole cores."""
    try:
        limit, period = (_CGROUP / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:
            limit = (_CGROUP / "cpu/cpu.cfs_quota_us").read_text().strip()
            period = (_CGROUP / "cpu/cpu.cfs_period_us").read_text().strip()
        except OSError:
            return os.cpu_count() or 1
    if limit in ("max", "-1"):
        return os.cpu_count() or 1
    return max(1, -(-int(limit) // int(period)))


@cache
def cpu_name() -> str:
    """Name the processor, as the system does."""
    return _cpuinfo("model name") or platform.processor() or platform.machine()


@cache
def cpu_features() -> tuple[str, ...]:
    """List the instruction sets that matter for speed; empty where unknown."""
    flags = (_cpuinfo("flags") or _cpuinfo("Features") or "").split()
    return tuple(feature for feature in _FEATURES if feature in flags)


def int8_saturates() -> bool:
    """Tell whether signed int8 products lose their sums on this processor.

    So it is on x86 without VNNI, whose instruction adds pairs in 16 bits. Where the
    features are unknown, as on Intel Macs, the answer is the safe one.
    """
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    return is_x86 and not {"avx512_vnni", "avx_vnni", "amx_int8"} & set(cpu_features())


def _cpuinfo(key: str) -> str | None:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return None
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None
