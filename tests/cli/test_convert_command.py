"""`cosykit convert` makes a model of one's own, which other commands know."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from cosykit.convert.checkpoint import read_tables
from cosykit.convert.checkpoint_writer import TensorToWrite, write_checkpoint
from cosykit.convert.synthetic import write_release
from tests.cli.conftest import Run


@pytest.fixture
def checkpoints(folder: Path) -> Path:
    write_release(folder / "My-Voice.v2", "tiny", clones=False)
    return folder / "My-Voice.v2"


def test_model_has_the_name_of_its_folder(run: Run, checkpoints: Path) -> None:
    outcome = run("convert", str(checkpoints), "--precision", "int8")
    assert outcome.code == 0, outcome.err
    assert "my-voice.v2 is installed" in outcome.out
    assert "a model of the kind of cosyvoice-300m-sft" in outcome.err
    assert "now int8/lm.onnx" in outcome.err


def test_other_commands_know_it(run: Run, checkpoints: Path) -> None:
    run("convert", str(checkpoints), "--name", "mine", "--precision", "int8")
    rows = {row["id"]: row for row in json.loads(run("models", "--json").out)}
    assert rows["mine"]["state"] == "installed"
    assert rows["mine"]["precisions"] == ["int8"]
    assert run("models", "--verify").code == 0
    assert "was there and is whole" in run("install", "mine", "--repair").out
    assert run("install", "mine", "--precision", "int4").code == 0
    assert run("models", "--remove", "mine").code == 0
    assert "mine" not in run("models", "--json").out


def test_broken_own_model_is_listed_and_can_be_converted_again(
    run: Run, folder: Path, checkpoints: Path
) -> None:
    run("convert", str(checkpoints), "--name", "mine", "--precision", "int8")
    (folder / "models/mine/manifest.json").write_text("{")
    outcome = run("models", "--verify")
    assert outcome.code == 4
    assert "mine: manifest.json" in outcome.err
    outcome = run("say", "Hello", "--model", "mine")
    assert outcome.code == 4
    assert "cosykit convert DIR --name mine" in outcome.err
    again = run("convert", str(checkpoints), "--name", "mine", "--precision", "int8")
    assert "mine is repaired" in again.out


def test_added_voices_stay_and_built_in_ones_change_with_the_model(
    run: Run, folder: Path, checkpoints: Path
) -> None:
    command = ("convert", str(checkpoints), "--name", "mine", "--precision", "int8")
    run(*command)
    voices = folder / "models/mine/voices"
    added = (voices / "zh_female.npz").read_bytes()
    (voices / "Anna.npz").write_bytes(added)
    write_voices(checkpoints / "spk2info.pt", ["anna", "中文男"])
    again = run(*command)
    assert again.code == 0, again.err
    assert (voices / "Anna.npz").read_bytes() == added
    assert {path.stem for path in voices.iterdir()} == {"Anna", "anna_2", "zh_male"}
    assert run("models", "--verify").code == 0


def write_voices(path: Path, names: Sequence[str]) -> None:
    vector = read_tables(path)["中文女"]["embedding"].astype(np.float32)
    written = TensorToWrite(vector.shape, lambda: vector)
    write_checkpoint(path, {name: {"embedding": written} for name in names})


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--name", "lite"), "is a model of the catalogue"),
        (("--name", "cosyvoice-300m"), "install cosyvoice-300m --from DIR"),
        (("--name", "auto"), "means something else"),
        (("--name", "cosyvoice"), "means something else"),
        (("--name", "../mine"), "cannot be the name"),
        (("--name", "Mine"), "a-z, 0-9"),
        (("--base", "lite"), "is no CosyVoice model"),
        (("--base", "nothing"), "unknown model"),
    ],
)
def test_names_that_do_not_fit_are_refused(
    run: Run, checkpoints: Path, arguments: tuple[str, ...], problem: str
) -> None:
    outcome = run("convert", str(checkpoints), *arguments)
    assert outcome.code == 2
    assert problem in outcome.err


@pytest.mark.parametrize(
    "command", [("convert",), ("install", "cosyvoice-300m-sft", "--from")]
)
@pytest.mark.parametrize(
    ("given", "code", "problem"),
    [
        ("nowhere", 2, "there is no folder nowhere"),
        ("cosykit.yaml", 2, "there is no folder cosykit.yaml"),
        ("empty", 4, "empty lacks cosyvoice.yaml, llm.pt, flow.pt, hift.pt"),
    ],
)
def test_folder_without_the_files_is_refused_before_anything_is_done(
    run: Run,
    folder: Path,
    command: tuple[str, ...],
    given: str,
    code: int,
    problem: str,
) -> None:
    (folder / "empty").mkdir()
    outcome = run(*command, given)
    assert outcome.code == code
    assert f"error: {problem}" in outcome.err
    assert "Name a folder" in outcome.err
    assert "Converting" not in outcome.err
    assert "Precision" not in outcome.err
    assert not (folder / "models").exists()


@pytest.mark.parametrize(
    ("name", "content"), [("llm.pt", b"no archive"), ("cosyvoice.yaml", b"x: [")]
)
def test_file_that_cannot_be_converted_is_told_and_leaves_no_model(
    run: Run, folder: Path, checkpoints: Path, name: str, content: bytes
) -> None:
    (checkpoints / name).write_bytes(content)
    outcome = run("convert", str(checkpoints), "--precision", "int8")
    assert outcome.code == 4
    (message,) = outcome.err.partition("error: ")[2].splitlines()[:-1]
    assert name in message
    assert [path.name for path in (folder / "models").iterdir()] == [
        ".my-voice.v2.lock"
    ]
