"""Commands that may choose the model speak with the next best for a broken one."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Start

MODEL = "cosyvoice-300m-sft"


@pytest.fixture
def broken(folder: Path, cosyvoice_models: Path, lite_models: Path) -> Path:
    """Have a model whose language model is broken, and the embedded voice."""
    models = folder / "models"
    shutil.copytree(cosyvoice_models / MODEL, models / MODEL)
    (models / "lite").symlink_to(lite_models / "lite")
    graph = models / MODEL / "fp32" / "lm.onnx"
    graph.write_bytes(b"broken" + graph.read_bytes()[6:])
    return models


def test_text_is_spoken_all_the_same_and_the_reason_told(
    run: Run, folder: Path, broken: Path, caplog: pytest.LogCaptureFixture
) -> None:
    outcome = run("say", "Hello.", "-o", "out.wav")
    assert outcome.code == 0
    assert (folder / "out.wav").stat().st_size > 10_000
    assert f"cannot load {MODEL} as configured" in caplog.text
    assert "lm.onnx is broken" in caplog.text
    assert f"Run: cosykit install {MODEL} --repair" in caplog.text


@pytest.mark.usefixtures("broken")
def test_remedy_in_the_log_names_the_command_as_it_was_called(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COSYKIT_COMMAND", "bin/cosykit")
    told = start("say", "Hello.", "-o", "out.wav").communicate(timeout=60)[1].decode()
    assert f"Run: bin/cosykit install {MODEL} --repair\n" in told


def test_model_that_was_named_speaks_or_fails(run: Run, broken: Path) -> None:
    outcome = run("say", "Hello.", "--model", MODEL)
    assert outcome.code == 4
    assert "lm.onnx is broken" in outcome.err
    assert f"Run: cosykit install {MODEL} --repair" in outcome.err


def test_doctor_says_which_model_speaks_and_why(run: Run, broken: Path) -> None:
    findings = json.loads(run("doctor", "--json").out)
    by_subject = {finding["subject"]: finding for finding in findings}
    assert by_subject["session"]["text"].startswith("lite runs on cpu")
    fallback = by_subject["fallback"]
    assert fallback["state"] == "warning"
    assert "lm.onnx is broken" in fallback["text"]
    assert fallback["remedy"] == f"Run: cosykit install {MODEL} --repair"
    assert by_subject[f"model {MODEL}"]["state"] == "problem"
    assert "1.2 GB needed" in by_subject["memory"]["text"]
