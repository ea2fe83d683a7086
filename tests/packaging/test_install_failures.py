"""How install.sh explains that packages could not be installed."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

# Of every run of pip with Python 3.11.3 or newer.
IGNORED = "Ignoring async-timeout: markers don't match your environment"
NO_WHEEL = "ERROR: No matching distribution found for anyio==4.16.0"


def explain(log: Path, text: str, wheels: str = "") -> str:
    """Give what install.sh says about a failure of pip or uv with this log."""
    log.write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["sh", "-c", ". tools/setup/messages.sh; explain_failure"],
        env=os.environ
        | {"log": str(log), "wheels": wheels, "version": "3.12"}
        | {"platform": "Linux x86_64"},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    return done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: Retrying (...) after connection broken by 'NewConnectionError('...: "
        "Failed to establish a new connection: [Errno 111] Connection refused')'",
        "WARNING: Retrying (...) after connection broken by 'ProxyError('Cannot "
        "connect to proxy.', OSError('Tunnel connection failed: 403 Forbidden'))'",
        "WARNING: Retrying (...) after connection broken by 'ReadTimeoutError(...)'",
        "WARNING: Retrying (...) after connection broken by 'NameResolutionError(...: "
        "Failed to resolve 'index.example')'",
        "ERROR: Connection to index.example timed out. (connect timeout=15)",
        "error: connection-failed\n\n× Failed to connect to index.example",
        "error: connection-timeout\n╰─> index.example didn't respond within 15 seconds",
        "error: Failed to fetch: `https://index.example/anyio/`\n  cause: dns error",
        "error: Failed to download distribution due to network timeout.",
    ],
)
def test_broken_connection_is_told_as_one(tmp_path: Path, line: str) -> None:
    told = explain(tmp_path / "log", f"{IGNORED}\n{line}\n{NO_WHEEL}\n")
    assert "error: the package index cannot be reached" in told
    assert "--wheels DIR" in told


@pytest.mark.parametrize(
    "line",
    [
        NO_WHEEL,
        "  × No solution found when resolving dependencies:\n"
        "  ╰─▶ Because anyio==4.16.0 has no wheels with a matching Python ABI tag",
        "error: No solution found when resolving dependencies\n"
        "  cause: Because anyio was not found in the provided package locations",
    ],
)
@pytest.mark.parametrize("wheels", ["", "/a folder"])
def test_missing_wheel_is_told_as_one(tmp_path: Path, line: str, wheels: str) -> None:
    told = explain(tmp_path / "log", f"{IGNORED}\n{line}\n", wheels)
    assert "error: a package has no wheel for Python 3.12 on Linux x86_64" in told
    assert ("Make sure that /a folder was filled for this very" in told) is bool(wheels)
    assert "--wheels" not in told


def test_folder_of_wheels_is_not_an_index_that_cannot_be_reached(
    tmp_path: Path,
) -> None:
    # The pages that `find-links` of the pip configuration names are asked for all that.
    retry = "WARNING: Retrying (...) after connection broken by 'SSLError(...)'"
    refused = "WARNING: Retrying (...) Connection refused"
    told = explain(tmp_path / "log", f"{retry}\n{refused}\n{NO_WHEEL}\n", "/wheels")
    assert "a package has no wheel" in told
    assert "--wheels" not in told


def test_log_of_an_earlier_installation_explains_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("Connection refused\n")
    script = (
        ". tools/setup/environment.sh; is_whole() { :; }; write_stamp() { :; };"
        "say() { :; }; prepare_environment; logged echo new"
    )
    names = ["runtime", "tool", "python", "old_runtime", "old_tool", "old_python"]
    subprocess.run(
        ["sh", "-c", script],
        env=os.environ
        | dict.fromkeys(names, "same")
        | {"log": str(log), "venv": str(tmp_path), "stamp": str(log)},
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    assert log.read_text() == "new\n"
