"""Fixtures that several test modules share."""

import ssl
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from cosykit.runtime.wheel import runtime_version

NEEDS_INT8_CACHES = pytest.mark.skipif(
    runtime_version() < (1, 28), reason="this ONNX Runtime has no caches of int8"
)
ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "cosykit-tone"


def pytest_configure() -> None:
    """Let no test fail for the time that it takes: machines have other work as well."""
    settings.register_profile("unhurried", deadline=None)
    settings.load_profile("unhurried")


def register_distribution(folder: Path, name: str, entry_points: str) -> None:
    """Make a folder on `sys.path` look like an installed distribution."""
    info = folder / f"{name.replace('-', '_')}-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n"
    )
    (info / "entry_points.txt").write_text(entry_points)


@pytest.fixture(scope="session", autouse=True)
def certificates_read_once() -> Iterator[None]:
    """Share what HTTP clients trust, which each of them would read for 40 ms."""
    with pytest.MonkeyPatch.context() as patch:
        once = cache(ssl.create_default_context)
        patch.setattr(ssl, "create_default_context", once)
        yield


@pytest.fixture
def example_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the example plug-in for one test; give the folder of its metadata."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    lines = []
    for group, points in project["entry-points"].items():
        lines.append(f"[{group}]")
        lines += [f"{name} = {value}" for name, value in points.items()]
    site = tmp_path / "site"
    register_distribution(site, project["name"], "\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.syspath_prepend(str(site))
    yield site
    sys.modules.pop("cosykit_tone", None)


@pytest.fixture(scope="session")
def lite_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the embedded voice once for all tests; they must not change it."""
    from cosykit.ops.install import install

    folder = tmp_path_factory.mktemp("models")
    install("lite", folder)
    return folder


@pytest.fixture(scope="session")
def cosyvoice_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install tiny models of random weights that speak noise; nobody may change them.

    The one that only clones has no voice, as its real model.
    """
    from cosykit.convert.synthetic import write_release
    from cosykit.ops.install import install
    from cosykit.ops.request import Origin, Wish

    folder = tmp_path_factory.mktemp("cosyvoice")
    for suffix, has_voices, clones in (
        ("", False, True),
        ("-sft", True, False),
        ("-instruct", True, True),
    ):
        release = tmp_path_factory.mktemp("release")
        write_release(release, "tiny", voices=has_voices, clones=clones)
        install(
            f"cosyvoice-300m{suffix}",
            folder,
            origin=Origin(folder=release),
            wish=Wish("fp32", "fp32"),
        )
    return folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell what became of each fault, where `-m fault` asked for nothing else."""
    reporter = terminalreporter
    if reporter.config.getoption("markexpr", default="") != "fault":
        return
    outcomes: dict[str, str] = {}
    # The worst of a fault that several tests show.
    for result in ("passed", "skipped", "failed", "error"):
        for report in reporter.stats.get(result, ()):
            told = dict(getattr(report, "user_properties", ()))
            outcome = told.get("outcome", "") if result == "passed" else result.upper()
            outcomes[told.get("fault", report.nodeid)] = outcome
    reporter.section("faults")
    for fault, outcome in outcomes.items():
        reporter.write_line(f"{fault}: {outcome}")


@pytest.fixture(autouse=True)
def named_fault(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> None:
    """Have the summary know which fault a test shows."""
    if fault := request.node.get_closest_marker("fault"):
        record_property("fault", fault.args[0])
        # Some know theirs only when they have seen it, and record it later.
        record_property("outcome", fault.kwargs.get("outcome", ""))
