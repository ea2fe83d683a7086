"""Plug-ins are found, opened, and refused with the reason."""

from pathlib import Path

import pytest

from cosykit.config.schema import Settings, TextSettings
from cosykit.engines.frontends import open_text_frontend
from cosykit.engines.open import load
from cosykit.errors import PluginError
from cosykit.plugins import inspect_plugins, load_plugin, plugin_names
from tests.conftest import register_distribution


def test_own_engine_and_front_end_are_plugins() -> None:
    assert "lite" in plugin_names("cosykit.engines")
    assert "standard" in plugin_names("cosykit.text_frontends")


def test_example_engine_speaks_by_its_model_name(example_plugin: Path) -> None:
    with load("tone", Settings()) as tts:
        audio = tts.synthesize("do re mi")
    assert audio.duration_s == pytest.approx(6 * 0.08, abs=0.01)


def test_example_front_end_is_opened_by_name(example_plugin: Path) -> None:
    frontend = open_text_frontend(TextSettings(frontend="shout"))
    assert [s.text for s in frontend.sentences("hi\nthere", None)] == ["HI", "THERE"]


def test_unknown_front_end_names_the_installed_ones() -> None:
    with pytest.raises(PluginError, match="standard"):
        open_text_frontend(TextSettings(frontend="nope"))


def test_two_plugins_of_one_name_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "rival"
    register_distribution(site, "rival", "[cosykit.engines]\nlite = os:getcwd\n")
    monkeypatch.syspath_prepend(str(site))
    with pytest.raises(PluginError, match="rival"):
        load_plugin("cosykit.engines", "lite")
    problems = {report.problem for report in inspect_plugins() if report.name == "lite"}
    assert all("share the name" in problem for problem in problems)


def test_broken_plugin_is_reported_and_stops_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example_plugin: Path
) -> None:
    site = tmp_path / "broken"
    register_distribution(
        site, "broken", "[cosykit.engines]\nbroken = no_such_module:open\n"
    )
    monkeypatch.syspath_prepend(str(site))
    reports = {report.name: report for report in inspect_plugins()}
    assert "no_such_module" in reports["broken"].problem
    assert "Reinstall" not in reports["broken"].problem
    assert reports["tone"].problem == ""
    with load("tone", Settings()) as tts:
        assert tts.synthesize("hum").duration_s > 0


def test_plugin_that_is_no_engine_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "odd"
    register_distribution(site, "odd", "[cosykit.engines]\nodd = operator:itemgetter\n")
    monkeypatch.syspath_prepend(str(site))
    with pytest.raises(PluginError, match="Engine"):
        load("odd", Settings())
