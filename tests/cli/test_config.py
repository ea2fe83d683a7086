"""`cosykit config`."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_every_setting_is_shown_with_its_origin(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "cosykit.yaml").write_text("server:\n  port: 1234\n")
    monkeypatch.setenv("COSYKIT_MODEL", "lite")
    outcome = run("config")
    assert outcome.code == 0
    lines = {line.split()[0]: line.split()[1:] for line in outcome.out.splitlines()[3:]}
    assert lines["server.port"] == ["1234", "cosykit.yaml:2"]
    assert lines["model"] == ["lite", "COSYKIT_MODEL"]
    assert lines["engine.warm_up"] == ["true", "default"]
    assert f"Configuration file: {folder}/cosykit.yaml" in outcome.out


def test_json_holds_values_with_their_types(run: Run, folder: Path) -> None:
    shown = json.loads(run("config", "--json").out)
    assert shown["file"] == str(folder / "cosykit.yaml")
    assert shown["settings"]["server.port"] == {"value": 50000, "origin": "default"}
    assert shown["settings"]["server.cors_origins"]["value"] == []
    assert shown["settings"]["models_dir"]["value"] == str(folder / "models")


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_api_keys_are_masked(
    run: Run, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COSYKIT_SERVER_API_KEYS", "hush,hush2")
    outcome = run("config", *flags)
    assert "hush" not in outcome.out
    assert outcome.out.count("********") >= 2


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_name_of_a_key_is_shown_but_not_the_key(
    run: Run, folder: Path, flags: tuple[str, ...]
) -> None:
    (folder / "cosykit.yaml").write_text(
        "server:\n  api_keys: [{key: hush, name: Anna, priority: 2}]\n"
    )
    outcome = run("config", *flags)
    assert "Anna" in outcome.out
    assert "hush" not in outcome.out


def test_wrong_configuration_ends_with_code_3(run: Run, folder: Path) -> None:
    (folder / "cosykit.yaml").write_text("server:\n  prot: 1\n")
    outcome = run("config")
    assert outcome.code == 3
    assert f"{folder}/cosykit.yaml:2" in outcome.err
    assert "did you mean server.port?" in outcome.err
    assert outcome.out == ""
