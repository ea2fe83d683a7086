"""The wheel holds all that the package needs, and works without the clone."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.conftest import ROOT

BUILD = (
    "import sys; from flit_core.buildapi import build_wheel; build_wheel(sys.argv[1])"
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and unpack it, which is all there is to installing a pure one."""
    dist = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-c", BUILD, dist], cwd=ROOT, check=True)
    (wheel,) = dist.glob("*.whl")
    site = tmp_path_factory.mktemp("site")
    ZipFile(wheel).extractall(site)
    return site


def files_under(folder: Path) -> set[Path]:
    return {
        path.relative_to(folder)
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_wheel_holds_every_file_of_the_package(installed: Path) -> None:
    assert files_under(installed / "cosykit") == files_under(ROOT / "cosykit")


def test_wheel_carries_licence_and_notice(installed: Path) -> None:
    (info,) = installed.glob("cosykit-*.dist-info")
    for name in ("LICENSE", "NOTICE"):
        assert (info / "licenses" / name).read_text() == (ROOT / name).read_text()


def test_package_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import cosykit;"
        "print(cosykit.__file__, flush=True);"
        "from cosykit.cli.main import main; main(['--version'])"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script, installed],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    where, says = done.stdout.splitlines()
    assert Path(where).is_relative_to(installed)
    assert says.startswith("cosykit ")
