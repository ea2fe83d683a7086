"""Where `auto` may choose, a model that can do what is asked for is taken."""

import shutil
from pathlib import Path

import pytest

from cosykit.config.schema import Settings
from cosykit.engines.suited import suited
from cosykit.hub.bundle import read_bundle
from cosykit.spec import Mode
from cosykit.synthesis.voice.store import VoiceStore

CLONES, SFT, INSTRUCTS = (f"cosyvoice-300m{end}" for end in ("", "-sft", "-instruct"))


@pytest.mark.parametrize(
    ("modes", "voice", "chosen"),
    [
        ((), None, "auto"),
        ((), "zh_female", "auto"),
        ((), "nobody", "auto"),
        # A voice of the embedded model, which always can.
        ((), "zm_yunxi", "lite"),
        (("zero_shot",), "zm_yunxi", CLONES),
        (("zero_shot",), None, CLONES),
        (("instruct",), None, INSTRUCTS),
        (("zero_shot", "instruct"), None, INSTRUCTS),
        # The other model that can has no voice.
        (("voice_conversion",), None, INSTRUCTS),
        (("voice_conversion", "zero_shot"), None, CLONES),
    ],
)
def test_installed_model_that_can_is_chosen(
    cosyvoice_models: Path, modes: tuple[Mode, ...], voice: str | None, chosen: str
) -> None:
    settings = Settings(models_dir=cosyvoice_models)
    assert suited(settings, modes, voice).model == chosen


def test_named_model_stays(cosyvoice_models: Path) -> None:
    settings = Settings(model=SFT, models_dir=cosyvoice_models)
    assert suited(settings, ["zero_shot"]) is settings


def test_choice_stays_where_no_model_can(tmp_path: Path) -> None:
    settings = Settings(models_dir=tmp_path)
    assert suited(settings, ["instruct"], "anna") is settings


def test_model_that_has_the_voice_is_chosen(
    cosyvoice_models: Path, tmp_path: Path
) -> None:
    for model in (SFT, CLONES):
        shutil.copytree(cosyvoice_models / model, tmp_path / model)
    known, other = (read_bundle(tmp_path, model) for model in (SFT, CLONES))
    assert known
    assert other
    source = tmp_path / "voice.npz"
    VoiceStore(known).export("zh_male", source)
    VoiceStore(other).take(source, "Anna")
    settings = Settings(models_dir=tmp_path)
    assert suited(settings, voice="anna").model == CLONES
    assert suited(settings, voice="zh_male").model == "auto"
