"""The commands with the embedded voice itself."""

import json
import os
import pty
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Start, everything_from


@pytest.fixture
def shared(folder: Path, lite_models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Speak with the voice that all tests share."""
    monkeypatch.setenv("COSYKIT_MODELS_DIR", str(lite_models))


@pytest.fixture
def changed_graph(folder: Path, lite_models: Path) -> Path:
    """Have a voice in the working folder with one byte of its graph changed."""
    shutil.copytree(lite_models / "lite", folder / "models" / "lite")
    graph = next((folder / "models" / "lite").rglob("*.onnx"))
    with graph.open("r+b") as file:
        file.seek(1_000_000)
        (byte,) = file.read(1)
        file.seek(1_000_000)
        file.write(bytes([byte ^ 1]))
    return graph


def test_chinese_and_english_are_spoken(run: Run, shared: None) -> None:
    outcome = run("say", "你好，欢迎使用 CosyKit。", "--json")
    report = json.loads(outcome.out)
    assert (report["model"], report["voice"]) == ("lite", "zf_xiaoxiao")
    assert 1 < report["duration_s"] < 6


def test_wish_for_another_provider_or_precision_is_told_to_be_unmet(
    run: Run,
    shared: None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for provider, precision in (("auto", "auto"), ("cpu", "int8")):
        monkeypatch.setenv("COSYKIT_RUNTIME_PROVIDER", provider)
        monkeypatch.setenv("COSYKIT_RUNTIME_PRECISION", precision)
        assert run("say", "Hi.").code == 0
        assert not caplog.records
    monkeypatch.setenv("COSYKIT_RUNTIME_PROVIDER", "cuda")
    monkeypatch.setenv("COSYKIT_RUNTIME_PRECISION", "fp16")
    assert run("say", "Hi.").code == 0
    assert (
        "lite runs on cpu at int8 only, although runtime.provider is cuda and "
        "runtime.precision is fp16"
    ) in caplog.text


@pytest.mark.parametrize("text", ["。！？", "😀🎉"])
def test_text_without_a_word_is_refused(run: Run, shared: None, text: str) -> None:
    outcome = run("say", text)
    assert outcome.code == 2
    assert "nothing to speak" in outcome.err


def test_install_leaves_a_whole_model_and_says_why_it_was_chosen(
    run: Run, shared: None
) -> None:
    outcome = run("install")
    assert "no better one is installed, and model is auto (default)" in outcome.err
    assert "lite was there and is whole" in outcome.out
    assert run("install", "lite").err == "Installing lite\n"
    asked = run("install", "lite", "--precision", "fp16")
    assert "lite comes at int8 only, not at fp16" in asked.err


def test_changed_graph_is_refused_then_mended_by_install(
    run: Run, changed_graph: Path
) -> None:
    refused = run("say", "hi")
    assert refused.code == 4
    assert "SHA-256" in refused.err
    assert "Run: cosykit install lite --repair" in refused.err
    assert "lite is repaired" in run("install", "lite", "--repair").out
    assert run("say", "hi").code == 0


def test_changed_graph_is_mended_when_the_offer_is_taken(
    start: Start, changed_graph: Path, folder: Path
) -> None:
    terminal, end = pty.openpty()
    process = start("say", "hi", stdin=end, stderr=end)
    os.close(end)
    os.write(terminal, b"y\n")
    shown = everything_from(terminal)
    assert process.wait(timeout=60) == 0, shown
    assert "Install lite now? [Y/n]" in shown
    assert (folder / "out.wav").stat().st_size > 10_000
