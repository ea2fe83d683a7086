"""Scripts and container files keep to the rules that nobody sees by reading them."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

SCRIPTS = [
    ROOT / "install.sh",
    ROOT / "bin" / "cosykit",
    ROOT / "bin" / "test",
    ROOT / ".ci" / "run",
    *sorted(ROOT.glob("tools/**/*.sh")),
    *sorted(ROOT.glob("tests/container/*.sh")),
]
DOCKERFILES = [ROOT / "Dockerfile.cpu", ROOT / "Dockerfile.gpu"]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_shellcheck_has_nothing_to_say() -> None:
    shellcheck = Path(sys.executable).with_name("shellcheck")
    if not shellcheck.exists() and platform.machine() == "aarch64":
        pytest.skip("shellcheck has no wheel for Linux on arm64")
    done = subprocess.run(
        [shellcheck, *SCRIPTS], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "script", [path for path in SCRIPTS if path.parent.name != "setup"], ids=name_of
)
def test_script_can_be_executed(script: Path) -> None:
    assert os.access(script, os.X_OK)


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=name_of)
def test_image_runs_without_root_and_stops_on_sigterm(dockerfile: Path) -> None:
    final = dockerfile.read_text().rpartition("\nFROM ")[2]
    (user,) = re.findall(r"^USER (\d+):0$", final, re.MULTILINE)
    assert int(user) > 0
    assert 'ENTRYPOINT ["cosykit"]' in final
    assert "STOPSIGNAL SIGTERM" in final
    assert "HEALTHCHECK" in final
    assert "VOLUME /models" in final


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=name_of)
def test_index_of_the_builder_does_not_reach_the_image(dockerfile: Path) -> None:
    head, _, final = dockerfile.read_text().rpartition("\nFROM ")
    assert "ARG PIP_INDEX_URL" in head
    assert "PIP_" not in final


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=name_of)
def test_dockerignore_lets_through_what_is_copied(dockerfile: Path) -> None:
    allowed = re.findall(
        r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE
    )
    for line in re.findall(
        r"^COPY (?!--from)(.+)$", dockerfile.read_text(), re.MULTILINE
    ):
        for source in line.split()[:-1]:
            assert source in allowed or source.split("/")[0] in allowed
