"""Built-in voices become files that carry what the official names say."""

from pathlib import Path

import numpy as np
import pytest

from cosykit.convert.checkpoint import read_tables
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
    with pytest.raises(ModelLoadError, match=r"中文女 in spk2info\.pt.*256 numbers"):
        write_built_in_voices(SOURCE, tmp_path, "toy", 256)
