"""The pins satisfy pyproject.toml, on every platform and Python that it promises."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, files, requires, version
from itertools import product
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
LOCKS = {
    extra: ROOT
    / ("requirements.lock" if extra == "cpu" else f"requirements-{extra}.lock")
    for extra in EXTRAS
}
PLATFORMS = {
    "Linux x86-64": ("linux", "Linux", "x86_64"),
    "Linux arm64": ("linux", "Linux", "aarch64"),
    "macOS arm64": ("darwin", "Darwin", "arm64"),
    "macOS x86-64": ("darwin", "Darwin", "x86_64"),
}
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def pins(extra: str) -> list[Requirement]:
    """Read a lock without its hashes."""
    lines = LOCKS[extra].read_text().replace("\\\n", "").splitlines()
    return [Requirement(line.split(" --hash")[0]) for line in lines if line.strip()]


def environment(platform: str, python: str) -> dict[str, str]:
    """Describe a machine in the words of dependency markers."""
    sys_platform, system, machine = PLATFORMS[platform]
    here = {name: str(value) for name, value in default_environment().items()}
    return here | {
        "sys_platform": sys_platform,
        "platform_system": system,
        "platform_machine": machine,
        "python_version": python,
        "python_full_version": f"{python}.1",
    }


def pinned_on(extra: str, platform: str, python: str) -> dict[str, str]:
    """Map the names that a lock installs on a machine to their versions."""
    chosen: dict[str, str] = {}
    for pin in pins(extra):
        if pin.marker is None or pin.marker.evaluate(environment(platform, python)):
            name = canonicalize_name(pin.name)
            assert name not in chosen, f"{name} is pinned twice"
            chosen[name] = str(pin.specifier).removeprefix("==")
    return chosen


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_extra_has_a_lock(extra: str) -> None:
    assert LOCKS[extra].is_file(), "run tools/lock.sh"


@pytest.mark.parametrize("extra", EXTRAS)
def test_lock_holds_exact_versions_with_hashes_and_no_address(extra: str) -> None:
    text = LOCKS[extra].read_text()
    assert "://" not in text
    assert not re.search(r"^\s*(#|--?(index|extra|find|trusted))", text, re.MULTILINE)
    for block in re.split(r"\n(?=\S)", text.strip()):
        assert re.match(r"[\w.-]+==[\w.]+", block), block
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block


@pytest.mark.parametrize(
    ("extra", "platform", "python"),
    [
        (extra, platform, python)
        for extra, platform, python in product(EXTRAS, PLATFORMS, PYTHONS)
        if platform == "Linux x86-64" or not extra.startswith("gpu")
    ],
)
def test_lock_satisfies_the_project(extra: str, platform: str, python: str) -> None:
    chosen = pinned_on(extra, platform, python)
    for wanted in map(Requirement, PROJECT["dependencies"] + EXTRAS[extra]):
        if wanted.marker and not wanted.marker.evaluate(environment(platform, python)):
            continue
        name = canonicalize_name(wanted.name)
        assert name in chosen, f"{name} has no pin; run tools/lock.sh"
        assert wanted.specifier.contains(chosen[name]), (
            f"{name} {chosen[name]} is not {wanted.specifier}; run tools/lock.sh"
        )


@pytest.mark.parametrize("extra", [extra for extra in EXTRAS if extra != "cpu"])
def test_locks_agree_with_each_other(extra: str) -> None:
    for platform, python in product(PLATFORMS, PYTHONS):
        one = pinned_on("cpu", platform, python)
        other = pinned_on(extra, platform, python)
        for name in one.keys() & other.keys():
            assert one[name] == other[name]


def test_only_one_runtime_is_in_a_lock() -> None:
    for extra in EXTRAS:
        runtimes = {pin.name for pin in pins(extra)} & {
            "onnxruntime",
            "onnxruntime-gpu",
        }
        is_runtime = extra == "cpu" or extra.startswith("gpu")
        assert len(runtimes) == is_runtime


def test_build_backend_is_pinned() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]
    for wanted in map(Requirement, build["requires"]):
        name = canonicalize_name(wanted.name)
        for extra in ("cpu", "gpu", "gpu-cuda12"):
            (pin,) = (pin for pin in pins(extra) if canonicalize_name(pin.name) == name)
            assert wanted.specifier.contains(str(pin.specifier).removeprefix("=="))


def test_lock_names_all_that_its_packages_need() -> None:
    names = {
        canonicalize_name(pin.name) for extra in ("cpu", "dev") for pin in pins(extra)
    }
    for name in names:
        try:
            version(name)
        except PackageNotFoundError:  # for another platform
            continue
        for needed in map(Requirement, requires(name) or []):
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                assert canonicalize_name(needed.name) in names, f"{name}: {needed}"


def test_packages_leave_the_environment_below_500_mb() -> None:
    """Beside them lie pip and CosyKit, and bytecode once all has run: some 50 MB."""
    size_bytes = 0
    for name in {canonicalize_name(pin.name) for pin in pins("cpu")}:
        try:
            installed = files(name) or []
        except PackageNotFoundError:  # for another platform
            continue
        places = [Path(file.locate()) for file in installed if file.suffix != ".pyc"]
        size_bytes += sum(place.stat().st_size for place in places)
    assert 300e6 < size_bytes < 450e6
