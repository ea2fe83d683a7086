"""Exactly one ONNX Runtime may be installed."""

from pathlib import Path

import pytest

from cosykit.errors import RuntimeSetupError
from cosykit.runtime import wheel
from tests.conftest import register_distribution


def test_one_wheel_is_fine() -> None:
    assert len(wheel.installed_wheels()) == 1
    wheel.check_wheels()


def test_both_wheels_are_an_error_that_names_the_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_distribution(tmp_path, "onnxruntime-gpu", "")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(RuntimeSetupError, match="pip uninstall -y onnxruntime"):
        wheel.import_runtime()


def test_no_wheel_is_an_error_that_names_the_fix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wheel, "WHEELS", ("no-such-runtime",))
    with pytest.raises(RuntimeSetupError, match=r"\./install\.sh.*pip install"):
        wheel.import_runtime()


def test_telemetry_is_off_before_the_import(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    wheel.import_runtime()
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"
