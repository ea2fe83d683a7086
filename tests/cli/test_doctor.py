"""What `cosykit doctor` finds of the configuration: Redis, provider, ports, disk."""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.conftest import Run
from tests.server.cache.redis_server import redis_server

SECRET = "hunter2"

Finding = dict[str, str]
Examine = Callable[[str], Finding]


@pytest.fixture
def examine(run: Run, tone: Path, monkeypatch: pytest.MonkeyPatch) -> Examine:
    """Run the doctor with an address of Redis; give what it finds there."""
    monkeypatch.setenv("COSYKIT_HUB_OFFLINE", "true")
    monkeypatch.setenv("COSYKIT_CACHE_STORE", "redis")
    monkeypatch.setenv("COSYKIT_CACHE_REDIS_TIMEOUT_MS", "500")

    def finding_at(url: str) -> Finding:
        monkeypatch.setenv("COSYKIT_CACHE_REDIS_URL", url)
        outcome = run("doctor", "--json")
        assert SECRET not in outcome.out + outcome.err
        findings: list[Finding] = json.loads(outcome.out)
        (found,) = (each for each in findings if each["subject"] == "redis")
        assert outcome.code == (found["state"] == "problem")
        return found

    return finding_at


def test_redis_that_answers_is_well(examine: Examine) -> None:
    with redis_server("--requirepass", SECRET) as redis:
        assert examine(f"{redis.url}?password={SECRET}")["state"] == "ok"


def test_redis_of_another_password_is_told(examine: Examine) -> None:
    with redis_server("--requirepass", "another") as redis:
        found = examine(f"{redis.url}?password={SECRET}")
    assert found["state"] == "warning"
    assert "does not accept the user or the password" in found["text"]
    assert "cache.redis_url" in found["remedy"]


def test_redis_that_says_nothing_is_told(examine: Examine) -> None:
    with redis_server() as redis:
        redis.stop_answering()
        assert "does not answer in time" in examine(redis.url)["text"]


def test_redis_that_is_not_there_is_told(examine: Examine, tmp_path: Path) -> None:
    found = examine(f"unix://{tmp_path / 'none'}?password={SECRET}")
    assert (found["state"], bool(found["remedy"])) == ("warning", True)
    assert "cannot be reached" in found["text"]


def test_address_of_no_redis_is_a_problem(examine: Examine) -> None:
    assert examine(f"http://:{SECRET}@localhost")["state"] == "problem"


def test_redis_is_left_alone_where_nothing_is_kept_in_it(
    run: Run, tone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COSYKIT_HUB_OFFLINE", "true")
    findings: list[Finding] = json.loads(run("doctor", "--json").out)
    assert "redis" not in {each["subject"] for each in findings}


def test_provider_that_a_model_does_not_have_is_told(
    run: Run, tone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COSYKIT_HUB_OFFLINE", "true")
    monkeypatch.setenv("COSYKIT_RUNTIME_PROVIDER", "cuda")
    findings: list[Finding] = json.loads(run("doctor", "--json").out)
    warnings = [each for each in findings if each["state"] == "warning"]
    assert "although runtime.provider is cuda" in "".join(f["text"] for f in warnings)


def test_every_port_that_is_taken_is_told(
    run: Run, tone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COSYKIT_HUB_OFFLINE", "true")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for name in ("PORT", "GRPC_PORT", "WYOMING_PORT"):
            port = taken.getsockname()[1]
            monkeypatch.setenv(f"COSYKIT_SERVER_{name}", str(port))
        findings: list[Finding] = json.loads(run("doctor", "--json").out)
    told = {each["subject"]: each for each in findings if "in use" in each["text"]}
    assert set(told) == {"port", "grpc port", "wyoming port"}
    assert "server.wyoming_port" in told["wyoming port"]["remedy"]


@pytest.mark.parametrize(
    ("is_installed", "state"), [(True, "warning"), (False, "problem")]
)
def test_full_disk_is_a_problem_for_what_is_still_to_be_installed(
    run: Run,
    folder: Path,
    lite_models: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_installed: bool,
    state: str,
) -> None:
    monkeypatch.setenv("COSYKIT_HUB_OFFLINE", "true")
    if is_installed:
        monkeypatch.setenv("COSYKIT_MODELS_DIR", str(lite_models))
    full = SimpleNamespace(free=1)
    monkeypatch.setattr("cosykit.ops.doctor.shutil.disk_usage", lambda path: full)
    findings: list[Finding] = json.loads(run("doctor", "--json").out)
    (found,) = (each for each in findings if each["subject"] == "disk")
    assert found["state"] == state
