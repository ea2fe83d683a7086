"""A tiny model of random weights, installed as users install the real one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cosykit.config.schema import EngineSettings, RuntimeSettings, Settings
from cosykit.convert.synthetic import write_release
from cosykit.engines.cosyvoice.engine import CosyVoiceEngine
from cosykit.engines.cosyvoice.installed import Installed, find_installed
from cosykit.engines.cosyvoice.open import open_engine
from cosykit.ops.install import install
from cosykit.ops.request import Origin, Wish
from tests.convert.recorded import FOLDER

INSTRUCT, SFT = (f"cosyvoice-300m-{end}" for end in ("instruct", "sft"))


@pytest.fixture(scope="session")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model that has all modes, at fp32 and int8; not to be changed."""
    release, folder = (tmp_path_factory.mktemp(name) for name in ("release", "models"))
    write_release(release, "tiny")
    for precision in ("fp32", "int8"):
        install(INSTRUCT, folder, origin=Origin(folder=release), wish=Wish(precision))
    return folder


@pytest.fixture(scope="session")
def settings(models_dir: Path) -> Settings:
    return Settings(
        model=INSTRUCT,
        models_dir=models_dir,
        runtime=RuntimeSettings(provider="cpu", precision="fp32", threads=1),
        engine=EngineSettings(batch_size=4),
    )


@pytest.fixture(scope="session")
def opened(settings: Settings) -> Iterator[CosyVoiceEngine]:
    engine = open_engine(INSTRUCT, settings)
    yield engine
    engine.close()


@pytest.fixture
def engine(opened: CosyVoiceEngine) -> Iterator[CosyVoiceEngine]:
    """The engine, at fp32 and with four slots; a test leaves it without requests."""
    yield opened
    assert opened.under_way == 0


@pytest.fixture(scope="session")
def official(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A model whose activations were recorded, converted as users convert theirs."""
    folder = tmp_path_factory.mktemp("official")
    install(SFT, folder, origin=Origin(folder=FOLDER), wish=Wish("fp32", "fp32"))
    runtime = RuntimeSettings(provider="cpu", precision="fp32", threads=2)
    return Settings(model=SFT, models_dir=folder, runtime=runtime)


@pytest.fixture(scope="session")
def installed(official: Settings) -> Installed:
    """That model, whose graphs can be opened one by one."""
    return find_installed(SFT, official)
