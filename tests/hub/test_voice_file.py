"""A voice is read as it was written, and nothing is believed of a stranger's file."""

import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from cosykit.errors import InputError, ModelLoadError
from cosykit.hub.voice_file import (
    StoredPrompt,
    StoredVoice,
    read_voice,
    voice_path,
    voice_paths,
    write_voice,
)

SPEAKER = np.linspace(-1, 1, 192, dtype=np.float32)
PROMPT = StoredPrompt(
    "你好。",
    tokens=np.arange(50, dtype=np.int32),
    mel=np.linspace(-9, 1, 80 * 86, dtype=np.float32).reshape(80, 86),
)
VOICE = StoredVoice("小明", "小明", "toy", SPEAKER, ("zh", "en"), "male", PROMPT)


def test_voice_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = voice_path(tmp_path / "voices", VOICE.id)
    write_voice(path, VOICE)
    found = read_voice(path)
    assert (found.id, found.name, found.model) == ("小明", "小明", "toy")
    assert (found.languages, found.gender) == (("zh", "en"), "male")
    np.testing.assert_array_equal(found.speaker, SPEAKER)
    assert found.prompt is not None
    assert found.prompt.transcript == "你好。"
    np.testing.assert_array_equal(found.prompt.tokens, PROMPT.tokens)
    np.testing.assert_array_equal(found.prompt.mel, PROMPT.mel)


def test_voice_without_prompt_has_none(tmp_path: Path) -> None:
    write_voice(tmp_path / "a.npz", StoredVoice("a", "A", "toy", SPEAKER))
    assert read_voice(tmp_path / "a.npz").prompt is None


def test_same_voice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        write_voice(tmp_path / name, VOICE)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_only_voices_are_listed(tmp_path: Path) -> None:
    assert voice_paths(tmp_path / "voices") == ()
    for name in ("b.npz", "a.npz", ".a.npz.0.tmp", ".b.npz", "note.txt"):
        (tmp_path / name).touch()
    assert [path.name for path in voice_paths(tmp_path)] == ["a.npz", "b.npz"]


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../a", "a/b", "a\\b", ".a", " a", "a\n", "a" * 65]
)
def test_name_that_is_no_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be the name"):
        voice_path(tmp_path, name)


@pytest.mark.parametrize("content", [b"", b"PK", b"a" * 1000])
def test_broken_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(content)
    with pytest.raises(ModelLoadError, match="no voice"):
        read_voice(path)


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "folder.npz").mkdir()
    for path in (tmp_path / "pipe.npz", tmp_path / "folder.npz", Path("/dev/zero")):
        with pytest.raises(ModelLoadError, match="no regular file"):
            read_voice(path)


def test_cut_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    write_voice(path, VOICE)
    path.write_bytes(path.read_bytes()[:20_000])
    with pytest.raises(ModelLoadError, match="no voice"):
        read_voice(path)


def test_file_of_huge_claims_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("speaker.npy", bytes(65 << 20))
    assert path.stat().st_size < 1 << 20
    with pytest.raises(ModelLoadError, match="it would have 68157440 bytes"):
        read_voice(path)


def test_pickled_content_is_not_run(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, about=np.array([object()], object), speaker=SPEAKER)
    with pytest.raises(ModelLoadError, match="no voice"):
        read_voice(path)


@pytest.mark.parametrize(
    ("change", "speaker", "problem"),
    [
        ({"format": 2}, SPEAKER, "1"),
        ({"languages": ["xx"]}, SPEAKER, "zh"),
        ({}, SPEAKER[None], r"\(1, 192\)"),
        ({}, SPEAKER * np.float32(np.nan), "not finite"),
        ({}, SPEAKER.astype(np.float64), "float64"),
    ],
)
def test_what_this_version_does_not_know_is_refused(
    tmp_path: Path, change: dict[str, object], speaker: np.ndarray, problem: str
) -> None:
    about = {
        **{"format": 1, "id": "a", "name": "A", "model": "toy", "languages": []},
        **{"gender": None, "transcript": "", **change},
    }
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez(tmp_path / "a.npz", about=text, speaker=speaker)
    with pytest.raises(ModelLoadError, match=problem):
        read_voice(tmp_path / "a.npz")
