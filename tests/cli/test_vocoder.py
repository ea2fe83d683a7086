"""A vocoder of a plug-in speaks in the place of CosyVoice's own, without a fork."""

from pathlib import Path

import numpy as np
import pytest

from cosykit.audio.decode import decode_audio
from cosykit.types import Samples
from tests.cli.conftest import Run

MODEL = "cosyvoice-300m-sft"
FRAME_SAMPLES = 256


@pytest.fixture
def speaking(
    folder: Path, cosyvoice_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COSYKIT_MODELS_DIR", str(cosyvoice_models))


def spoken(run: Run, path: str) -> Samples:
    outcome = run(
        "say", "今天天气很好，我们去公园散步。", "-m", MODEL, "--seed", "1", "-o", path
    )
    assert outcome.code == 0, outcome.err
    return decode_audio(Path(path).read_bytes())[0]


def levels_change_between_frames_only(samples: Samples) -> bool:
    """Tell whether this is the example's buzz, apart from its faded ends."""
    frames = np.abs(samples).reshape(-1, FRAME_SAMPLES)[4:-4]
    return bool(len(frames) > 20 and np.ptp(frames, axis=1).max() < 1e-3)


@pytest.mark.usefixtures("speaking", "example_plugin")
def test_vocoder_of_the_example_speaks_where_the_configuration_names_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = spoken(run, "ours.wav")
    assert not levels_change_between_frames_only(ours)
    monkeypatch.setenv("COSYKIT_ENGINE_VOCODER", "kazoo")
    theirs = spoken(run, "theirs.wav")
    assert levels_change_between_frames_only(theirs)
    assert theirs.size == ours.size


@pytest.mark.usefixtures("speaking", "example_plugin")
def test_vocoder_that_is_not_there_is_told_with_those_that_are(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COSYKIT_ENGINE_VOCODER", "flute")
    outcome = run("say", "你好。", "-m", MODEL)
    assert outcome.code != 0
    assert "'flute' in cosykit.vocoders" in outcome.err
    assert "hift, kazoo" in outcome.err
