"""The commands around speaking: serve, voices, models, install, bench, doctor."""

import json
import re
import select
import signal
import socket
import subprocess
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from cosykit.hub.bundle import Manifest, write_manifest
from cosykit.hub.verify import FileDigest
from tests.cli.conftest import Run, Start


def test_server_listens_and_ends_well(start: Start, tone: Path) -> None:
    process = start("serve", "--port", "0")
    assert process.stderr
    line = process.stderr.readline().decode()
    found = re.search(r"listening on (http://127\.0\.0\.1:\d+)", line)
    assert found, line
    assert health(found[1], process) == 200
    process.send_signal(signal.SIGTERM)
    rest = process.stderr.read().decode()
    assert process.wait(timeout=20) == 0, rest


def health(address: str, server: "subprocess.Popen[bytes]") -> int:
    """Ask until the server has begun to accept."""
    while server.poll() is None:
        try:
            with urlopen(address + "/health", timeout=20) as answer:
                return int(answer.status)
        except URLError:
            select.select([], [], [], 0.05)
    pytest.fail(f"the server ended with code {server.returncode}")


def test_port_in_use_names_the_flag(start: Start, tone: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        server = start("serve", "--port", str(other.getsockname()[1]))
        _, error = server.communicate(timeout=20)
    assert server.returncode == 6
    assert b"choose another with --port" in error


def test_wrong_port_is_a_wrong_configuration(run: Run, tone: Path) -> None:
    outcome = run("serve", "--port", "70000")
    assert outcome.code == 3
    assert "server.port must be less than or equal to 65535" in outcome.err


def test_voices_of_the_model_are_listed(run: Run, tone: Path) -> None:
    assert "hum  " in run("voices").out
    (voice,) = json.loads(run("voices", "--json").out)
    assert voice["id"] == "hum"
    assert voice["languages"] == ["en", "zh", "ja"]


def test_models_are_listed_with_their_state(run: Run, folder: Path) -> None:
    row, *_ = json.loads(run("models", "--json").out)
    assert (row["id"], row["state"], row["size_bytes"]) == ("lite", "available", 0)
    (folder / "models/lite").mkdir(parents=True)
    (folder / "models/lite/manifest.json").write_text("{")
    row, *_ = json.loads(run("models", "--json").out)
    assert row["state"] == "broken"
    assert "broken" in run("models").out


def test_model_is_removed(run: Run, folder: Path) -> None:
    (folder / "models/lite").mkdir(parents=True)
    assert run("models", "--remove", "lite").code == 0
    assert not (folder / "models/lite").exists()
    outcome = run("models", "--remove", "lite")
    assert outcome.code == 2
    assert "lite is not installed" in outcome.err


def test_model_is_not_removed_where_others_are_to_be_listed(
    run: Run, folder: Path
) -> None:
    (folder / "models/lite").mkdir(parents=True)
    for option in ("--verify", "--json"):
        assert run("models", "--remove", "lite", option).code == 2
    assert (folder / "models/lite").exists()


def test_model_without_its_graph_is_listed_as_broken(run: Run, folder: Path) -> None:
    write_manifest(
        folder / "models",
        Manifest(
            model="lite",
            source="test",
            source_files={},
            graphs={"int8/kokoro.onnx": FileDigest(4, "0" * 64)},
            converter="test",
        ),
    )
    graph = folder / "models" / "lite" / "int8" / "kokoro.onnx"
    graph.parent.mkdir()
    assert lite_state(run) == "broken"
    graph.write_bytes(b"abc")
    assert lite_state(run) == "broken"
    graph.write_bytes(b"abcd")
    assert lite_state(run) == "installed"


def lite_state(run: Run) -> str:
    listed = json.loads(run("models", "--json").out)
    (state,) = (model["state"] for model in listed if model["id"] == "lite")
    return str(state)


def test_folder_beside_the_models_is_never_removed(run: Run, folder: Path) -> None:
    (folder / "models").mkdir()
    (folder / "precious").mkdir()
    for name in ("../precious", ".", ""):
        assert run("models", "--remove", name).code == 2
    assert (folder / "precious").is_dir()


def test_unknown_model_is_not_installed(run: Run, folder: Path) -> None:
    outcome = run("install", "lit")
    assert outcome.code == 2
    assert "Did you mean lite?" in outcome.err


def test_missing_model_cannot_be_repaired(run: Run, folder: Path) -> None:
    outcome = run("install", "lite", "--repair")
    assert outcome.code == 2
    assert "nothing to repair" in outcome.err
    assert "Run: cosykit install lite" in outcome.err


def test_bench_measures_the_model(run: Run, tone: Path) -> None:
    measured = json.loads(run("bench", "hello", "--runs", "1", "--json").out)
    assert set(measured) >= {
        *("model", "precision", "provider", "threads", "load_s", "ttfa_s"),
        *("audio_s", "synthesis_s", "rtf", "peak_rss_mb"),
    }
    assert measured["model"] == "tone"
    assert measured["audio_s"] == 0.4
    assert "real time factor" in run("bench", "hello", "--runs", "1").out


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the doctor from asking a hub."""
    monkeypatch.setenv("COSYKIT_HUB_OFFLINE", "true")


def test_doctor_reports_every_finding(run: Run, tone: Path, offline: None) -> None:
    findings = json.loads(run("doctor", "--json").out)
    subjects = {finding["subject"] for finding in findings}
    assert {"platform", "cpu", "gpu", "runtime", "memory", "disk", "port"} <= subjects
    assert "plug-in tone" in run("doctor").out


def test_doctor_reports_a_models_folder_that_cannot_be_looked_at(
    run: Run, tone: Path, offline: None
) -> None:
    """A name too long fails for every user, as a forbidden folder does for most."""
    findings = json.loads(run("doctor", "--json", "--models-dir", "x" * 300).out)
    assert "problem" in {finding["state"] for finding in findings}
    assert "disk" in {finding["subject"] for finding in findings}


def test_doctor_reports_hosts_that_are_no_names(
    run: Run, tone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COSYKIT_SERVER_HOST", "a..b")
    monkeypatch.setenv("COSYKIT_HUB_ENDPOINT", "https://a..b")
    findings = json.loads(run("doctor", "--json").out)
    states = {finding["subject"]: finding["state"] for finding in findings}
    assert (states["port"], states["hub"]) == ("warning", "warning")


def test_doctor_ends_with_code_1_on_a_problem(
    run: Run, folder: Path, offline: None
) -> None:
    (folder / "models/lite").mkdir(parents=True)
    (folder / "models/lite/manifest.json").write_text("{")
    outcome = run("doctor")
    assert outcome.code == 1
    assert "Run: cosykit install lite --repair" in outcome.out
