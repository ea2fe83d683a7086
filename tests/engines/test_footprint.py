"""What a model takes is known well enough before it is loaded."""

from pathlib import Path

import pytest

from cosykit.config.schema import EngineSettings, Settings
from cosykit.engines.footprint import Footprint, estimate


def test_embedded_voice_takes_more_once_requests_come_together(
    lite_models: Path,
) -> None:
    together, alone = (
        estimate(
            "lite",
            Settings(models_dir=lite_models, engine=EngineSettings(parallel=parallel)),
        )
        for parallel in (2, 1)
    )
    assert alone.loaded == pytest.approx(250e6, rel=0.2)
    assert alone.later == 0
    assert together == Footprint(alone.loaded, 150_000_000)


def test_nothing_is_known_of_what_is_not_installed(tmp_path: Path) -> None:
    assert estimate("lite", Settings(models_dir=tmp_path)) == Footprint(0)
