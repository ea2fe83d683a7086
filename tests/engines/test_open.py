"""A model that another process changes while it is loaded is loaded anew."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cosykit.config.schema import Settings
from cosykit.engines import open as opening
from cosykit.errors import ModelLoadError
from cosykit.hub.building import building_in
from cosykit.hub.bundle import MANIFEST
from tests.synthesis.counting_engine import CountingEngine

MODEL = "cosyvoice-300m-sft"


class Plugin:
    """Opens engines, after something was done that befits the number of the try."""

    def __init__(self, *before: Callable[[], None]) -> None:
        self._before = list(before)
        self.opened: list[CountingEngine] = []

    def __call__(self, model: str, settings: Settings) -> CountingEngine:
        self.opened.append(CountingEngine())
        if self._before:
            self._before.pop(0)()
        return self.opened[-1]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setattr(opening, "_PAUSE_S", 0.0)
    (tmp_path / MODEL).mkdir()
    (tmp_path / MODEL / MANIFEST).write_text("1")
    return Settings(model=MODEL, models_dir=tmp_path)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Plugin], Plugin]:
    def used(plugin: Plugin) -> Plugin:
        monkeypatch.setattr(opening, "load_plugin", lambda *_: plugin)
        return plugin

    return used


Use = Callable[[Plugin], Plugin]


def changes(settings: Settings, *, fails: bool = False) -> Callable[[], None]:
    def change() -> None:
        manifest = settings.models_dir / MODEL / MANIFEST
        manifest.write_text(manifest.read_text() + "1")
        if fails:
            fail()

    return change


def fail() -> None:
    raise ModelLoadError("it is broken", hint="Mend it")


@pytest.mark.parametrize("fails", [False, True])
def test_model_that_changes_while_it_is_opened_is_opened_anew(
    settings: Settings, use: Use, fails: bool
) -> None:
    plugin = use(Plugin(changes(settings, fails=fails)))
    assert opening.load(None, settings).engine is plugin.opened[1]
    assert plugin.opened[0].closed.is_set() is not fails
    assert not plugin.opened[1].closed.is_set()


def test_model_that_is_broken_is_opened_once(settings: Settings, use: Use) -> None:
    plugin = use(Plugin(fail, fail))
    with pytest.raises(ModelLoadError, match="it is broken"):
        opening.load(None, settings)
    assert len(plugin.opened) == 1


def test_model_whose_files_take_their_places_is_waited_for(
    settings: Settings, use: Use
) -> None:
    with building_in(settings.models_dir / MODEL) as folder:
        (folder / "graph").touch()
        (folder / MANIFEST).write_text("2")
        plugin = use(Plugin(fail))
        assert opening.load(None, settings).engine is plugin.opened[1]


def test_model_that_never_stands_still_is_given_up(
    settings: Settings, use: Use
) -> None:
    plugin = use(Plugin(*[changes(settings)] * 20))
    with pytest.raises(ModelLoadError, match="being changed by another process"):
        opening.load(None, settings)
    assert all(engine.closed.is_set() for engine in plugin.opened)
