"""As many cores are counted as affinity, the machine and a container's quota leave."""

import os
import platform
from pathlib import Path

import pytest

from cosykit.runtime import cores
from cosykit.runtime.cores import int8_saturates, usable_cores


@pytest.fixture(autouse=True)
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of 32 cores and 64 threads; give the folder of its cgroups."""
    monkeypatch.setattr(cores, "_CGROUP", tmp_path)
    monkeypatch.setattr(cores, "_physical_cores", lambda: 32)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(
        os, "sched_getaffinity", lambda process: set(range(64)), raising=False
    )
    return tmp_path


def test_threads_of_one_core_count_once() -> None:
    assert usable_cores() == 32


def test_affinity_bounds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {4, 5, 6})
    assert usable_cores() == 3


@pytest.mark.parametrize(
    ("quota", "counted"),
    [
        ("200000 100000", 2),
        ("250000 100000", 3),
        ("1000 100000", 1),
        ("max 100000", 32),
    ],
)
def test_quota_of_a_container_is_rounded_up(
    large: Path, quota: str, counted: int
) -> None:
    (large / "cpu.max").write_text(f"{quota}\n")
    assert usable_cores() == counted


@pytest.mark.parametrize(("quota", "counted"), [("400000", 4), ("-1", 32)])
def test_quota_of_older_kernels_is_read(large: Path, quota: str, counted: int) -> None:
    (large / "cpu").mkdir()
    (large / "cpu/cpu.cfs_quota_us").write_text(f"{quota}\n")
    (large / "cpu/cpu.cfs_period_us").write_text("100000\n")
    assert usable_cores() == counted


@pytest.mark.parametrize(
    ("machine", "features", "saturates"),
    [
        ("x86_64", ("avx2", "avx512f"), True),
        ("AMD64", (), True),
        ("x86_64", ("avx2", "avx_vnni"), False),
        ("x86_64", ("avx512_vnni",), False),
        ("aarch64", ("asimddp",), False),
    ],
)
def test_int8_saturates_on_x86_without_vnni(
    monkeypatch: pytest.MonkeyPatch,
    machine: str,
    features: tuple[str, ...],
    saturates: bool,
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(cores, "cpu_features", lambda: features)
    assert int8_saturates() is saturates
