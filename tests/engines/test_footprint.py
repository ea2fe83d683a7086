"""What a model is going to take is told from its files, before it is loaded."""

from pathlib import Path

import pytest

from cosykit.config.schema import RuntimeSettings, Settings
from cosykit.engines.footprint import Footprint, estimate
from cosykit.hub.bundle import read_bundle

CLONES, SFT = "cosyvoice-300m", "cosyvoice-300m-sft"
BEYOND = 150_000_000


def settings(models_dir: Path, precision: str = "fp32") -> Settings:
    runtime = {"provider": "cpu", "precision": precision, "vocoder_precision": "fp32"}
    return Settings(
        models_dir=models_dir, runtime=RuntimeSettings.model_validate(runtime)
    )


def test_graphs_count_at_the_level_that_is_going_to_run(cosyvoice_models: Path) -> None:
    bundle = read_bundle(cosyvoice_models, SFT)
    assert bundle
    sizes = {path: one.size_bytes for path, one in bundle.manifest.files.items()}
    found = estimate(SFT, settings(cosyvoice_models))
    assert found.loaded == sum(sizes.values()) + BEYOND
    assert found.later == 0


def test_networks_that_measure_recordings_come_later(cosyvoice_models: Path) -> None:
    bundle = read_bundle(cosyvoice_models, CLONES)
    assert bundle
    files = bundle.manifest.files
    networks = sum(f.size_bytes for p, f in files.items() if p.startswith("frontend/"))
    found = estimate(CLONES, settings(cosyvoice_models))
    assert found.later == networks > 0
    assert found.loaded == bundle.size_bytes - networks + BEYOND


@pytest.mark.parametrize("model", [CLONES, "some-plug-in", "lite"])
def test_of_what_has_no_files_here_nothing_is_known(tmp_path: Path, model: str) -> None:
    assert estimate(model, settings(tmp_path)) == Footprint(0)


def test_model_that_cannot_run_here_is_no_error_yet(cosyvoice_models: Path) -> None:
    assert estimate(SFT, settings(cosyvoice_models, "int4")) == Footprint(0)
