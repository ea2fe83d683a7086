"""The models that a request may name."""

from pathlib import Path

import pytest

from cosykit.engines.roster import find_installed_model, installed_models
from cosykit.errors import NotFoundError

SFT = "cosyvoice-300m-sft"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for model in (SFT, "mine", ".building"):
        (tmp_path / model).mkdir()
        (tmp_path / model / "manifest.json").write_text("{")
    (tmp_path / "cosyvoice-300m").mkdir()
    return tmp_path


def test_what_is_on_the_disk_is_installed_and_so_is_the_embedded_voice(
    folder: Path,
) -> None:
    assert [m for m in installed_models(folder) if m not in ("tone",)] == [
        "lite",
        SFT,
        "mine",
    ]


@pytest.mark.parametrize(
    ("name", "model"),
    [(SFT, SFT), (SFT.upper(), SFT), ("mine", "mine"), ("Mine", "mine")],
)
def test_installed_model_is_found(folder: Path, name: str, model: str) -> None:
    assert find_installed_model(name, folder) == model


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("cosyvoice-300m", "Run: cosykit install cosyvoice-300m"),
        ("cosyvoice", "Installed: lite, "),
        ("../mine", "Installed: lite, "),
        (".building", "Installed: lite, "),
        ("", "Installed: lite, "),
    ],
)
def test_other_model_is_not_found(folder: Path, name: str, hint: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        find_installed_model(name, folder)
    assert caught.value.hint.startswith(hint)
    assert caught.value.param == "model"
