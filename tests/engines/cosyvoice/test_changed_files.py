"""A model whose files change, or go, while it speaks."""

import shutil
from pathlib import Path

import pytest

from cosykit.config.schema import Settings
from cosykit.engines.cosyvoice.open import open_engine
from cosykit.errors import ModelLoadError
from cosykit.synthesis.lm import decoder
from cosykit.types import AudioChunk, SpeechRequest

LONG = (
    "第一句话说的是春天，第二句话说的是夏天，第三句话说的是秋天，第四句话说的是冬天。"
)


@pytest.mark.parametrize("is_gone", [True, False])
def test_request_that_needs_a_file_that_changed_fails_alone(
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_gone: bool,
) -> None:
    monkeypatch.setattr(decoder, "_FIRST_BLOCKS", 1)
    models = tmp_path / "models"
    shutil.copytree(settings.models_dir, models)
    changed = settings.model_copy(update={"models_dir": models})
    engine = open_engine(settings.model, changed)
    short, long = SpeechRequest("好。", seed=1), SpeechRequest(LONG, seed=1)
    engine.begin(short)
    engine.begin(long)
    graph = models / settings.model / "fp32" / "lm_distances.onnx"
    if is_gone:
        shutil.rmtree(models)
    else:
        graph.write_bytes(graph.read_bytes() + b"\0")
    told: dict[str, list[object]] = {short.request_id: [], long.request_id: []}
    while engine.under_way:
        for progress in engine.step():
            told[progress.request_id].append(progress.outcome)
    engine.close()
    *chunks, end = told[short.request_id]
    assert end is None
    assert all(isinstance(chunk, AudioChunk) for chunk in chunks)
    failure = told[long.request_id][-1]
    assert isinstance(failure, ModelLoadError)
    assert "changed or removed since it was loaded" in str(failure)
