"""Built-in voices become files that carry what the official names say."""

import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cosykit.convert.checkpoint import read_tables
from cosykit.convert.checkpoint_writer import TensorToWrite, write_checkpoint
from cosykit.convert.voices import write_built_in_voices
from cosykit.errors import ModelLoadError
from cosykit.hub.voice_file import read_voice, voice_paths
from tests.convert.recorded import FOLDER

SOURCE = FOLDER / "spk2info.pt"


def test_every_voice_becomes_a_file(tmp_path: Path) -> None:
    write_built_in_voices(SOURCE, tmp_path, "toy", 192)
    found = {path.stem: read_voice(path) for path in voice_paths(tmp_path)}
    assert {voice.id: voice.name for voice in found.values()} == {
        "en_female": "英文女",
        "en_male": "英文男",
        "ja_male": "日语男",
        "ko_female": "韩语女",
        "yue_female": "粤语女",
        "zh_female": "中文女",
        "zh_male": "中文男",
    }
    voice = found["yue_female"]
    assert voice.languages[0] == "yue"
    assert set(voice.languages) == {"zh", "en", "ja", "yue", "ko"}
    assert (voice.gender, voice.model, voice.prompt) == ("female", "toy", None)
    vector = read_tables(SOURCE)["粤语女"]["embedding"]
    np.testing.assert_array_equal(voice.speaker, vector[0])


def test_voice_of_another_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError, match=r"中文女' in spk2info\.pt.*256 numbers"):
        write_built_in_voices(SOURCE, tmp_path, "toy", 256)


def write_voices(path: Path, vectors: Mapping[str, NDArray[np.float32]]) -> None:
    tables = {
        name: {"embedding": TensorToWrite(vector.shape, partial(np.array, vector))}
        for name, vector in vectors.items()
    }
    write_checkpoint(path, tables)


def test_voices_whose_ids_would_be_the_same_are_all_kept(tmp_path: Path) -> None:
    source = tmp_path / "spk2info.pt"
    names = ("中文女", "zh_female", "a/b", "a:b", "a?b", "x" * 40, "x" * 41)
    write_voices(source, {name: np.ones(3, np.float32) for name in names})
    write_built_in_voices(source, tmp_path / "voices", "toy", 3)
    found = [read_voice(path) for path in voice_paths(tmp_path / "voices")]
    assert {voice.name for voice in found} == set(names)
    assert {voice.id for voice in found} == {
        *("zh_female", "zh_female_2", "a_b", "a_b_2", "a_b_3"),
        *("x" * 32, "x" * 32 + "_2"),
    }


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_voice_that_is_not_finite_is_refused(tmp_path: Path, number: float) -> None:
    source = tmp_path / "spk2info.pt"
    write_voices(source, {"mine": np.array([1, number, 0], np.float32)})
    with pytest.raises(ModelLoadError, match="'mine' in spk2info"):
        write_built_in_voices(source, tmp_path / "voices", "toy", 3)


def test_name_that_cannot_be_shown_is_replaced(tmp_path: Path) -> None:
    halves = b"h\xed\xa0\x80\x1b[2J"  # half a character, and a command to terminals
    source = tmp_path / "spk2info.pt"
    write_voices(source, {"h" * len(halves): np.ones(3, np.float32)})
    with zipfile.ZipFile(source) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(source, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content.replace(b"h" * len(halves), halves))
    write_built_in_voices(source, tmp_path / "voices", "toy", 3)
    (voice,) = map(read_voice, voice_paths(tmp_path / "voices"))
    assert voice.name == "h__[2J"
