"""Voices are kept, shared and deleted, and none is ever lost by accident."""

import multiprocessing
import os
import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cosykit.errors import InputError, ModelLoadError, NotFoundError, ResourceError
from cosykit.hub.bundle import Bundle, Manifest, write_manifest
from cosykit.hub.verify import FileDigest
from cosykit.hub.voice_file import (
    StoredPrompt,
    StoredVoice,
    read_voice,
    voice_path,
    write_voice,
)
from cosykit.spec import COSYVOICE_300M, ModelFacts
from cosykit.synthesis.voice import store as store_module
from cosykit.synthesis.voice.prompt import VoicePrompt, prompt_of
from cosykit.synthesis.voice.store import VoiceStore

FACTS = ModelFacts(
    layers=1,
    heads=1,
    head_size=4,
    positions=100,
    text_vocabulary=51866,
    speech_vocabulary=4096,
    speaker_size=192,
    mels=80,
    sample_rate=22_050,
    token_rate=50,
    harmonics=8,
    samples_per_frame=256,
    modes=COSYVOICE_300M.modes,
)
NO_DIGEST = FileDigest(0, "")


def voice(name: str, *, tokens: int = 100, frames: int = 172) -> StoredVoice:
    numbers = np.random.default_rng(len(name))
    prompt = StoredPrompt(
        "你好。",
        tokens=numbers.integers(0, 4096, tokens, np.int32),
        mel=numbers.standard_normal((80, frames)).astype(np.float32),
    )
    speaker = numbers.standard_normal(192).astype(np.float32)
    return StoredVoice(name, name, "cosyvoice-300m", speaker, ("zh",), prompt=prompt)


def built_in(folder: Path) -> StoredVoice:
    speaker = np.ones(192, np.float32)
    stored = StoredVoice("zh_female", "中文女", "cosyvoice-300m", speaker, ("zh",))
    write_voice(voice_path(folder, stored.id), stored)
    return stored


@pytest.fixture
def store(tmp_path: Path) -> VoiceStore:
    return VoiceStore(installed(tmp_path))


def installed(models_dir: Path) -> Bundle:
    built_in(models_dir / "toy" / "voices")
    manifest = Manifest(
        model="toy",
        source="a test",
        source_files={},
        graphs={},
        others={"voices/zh_female.npz": NO_DIGEST},
        facts=FACTS,
        converter="0",
    )
    return write_manifest(models_dir, manifest)


def ids(store: VoiceStore) -> list[str]:
    return [stored.id for stored in store.list().voices]


def test_added_voice_is_found_in_any_letter_case(store: VoiceStore) -> None:
    store.add(voice("Anna"))
    assert ids(store) == ["Anna", "zh_female"]
    np.testing.assert_array_equal(store.read("aNNA").speaker, voice("Anna").speaker)


@pytest.mark.parametrize(
    "name", ["中文女声", "Élodie", "my voice 2", "音色.v2", "𠮷野"]
)
def test_names_of_any_script_are_fine(store: VoiceStore, name: str) -> None:
    store.add(voice(unicodedata.normalize("NFD", name)))
    assert store.read(name).id == name


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "..", ".hidden", "../up", "a/b", "a\\b", "a\0b", "line\nbreak"),
        *("x" * 65, "𠮷" * 60, "default", "AUTO", "none"),
    ],
)
def test_name_that_makes_no_good_file_is_refused(
    store: VoiceStore, name: str, tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*.npz"))
    with pytest.raises(InputError):
        store.add(voice(name))
    assert sorted(tmp_path.rglob("*.npz")) == before


@pytest.mark.parametrize("name", ["Anna", "anna", "中文女", "ZH_female"])
def test_taken_name_is_refused(store: VoiceStore, name: str) -> None:
    store.add(voice("Anna"))
    with pytest.raises(InputError, match="already"):
        store.add(voice(name))
    assert ids(store) == ["Anna", "zh_female"]


def test_added_voice_can_be_replaced_and_a_built_in_one_cannot(
    store: VoiceStore,
) -> None:
    store.add(voice("Anna"))
    other = replace(voice("anna"), speaker=np.zeros(192, np.float32))
    store.add(other, replaces=True)
    assert ids(store) == ["Anna", "zh_female"]
    assert not store.read("Anna").speaker.any()
    with pytest.raises(InputError, match="already"):
        store.add(voice("zh_female"), replaces=True)


def test_removed_voice_is_gone_and_a_built_in_one_stays(store: VoiceStore) -> None:
    store.add(voice("Anna"))
    store.remove("anna")
    assert ids(store) == ["zh_female"]
    with pytest.raises(NotFoundError, match="Anna"):
        store.remove("Anna")
    with pytest.raises(InputError, match="came with the model"):
        store.remove("zh_female")


def test_voice_takes_the_place_of_files_alone(
    store: VoiceStore, tmp_path: Path
) -> None:
    store.add(voice("Anna"))
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for target in (tmp_path, fifo, Path()):
        with pytest.raises(ResourceError, match="is no file"):
            store.export("Anna", target, replaces=True)
    assert fifo.is_fifo()
    with pytest.raises(InputError, match="there is no file"):
        store.take(tmp_path / "none.npz")


def test_exported_voice_can_be_imported_under_another_name(
    store: VoiceStore, tmp_path: Path
) -> None:
    store.add(voice("Anna"))
    target = tmp_path / "out" / "anna.npz"
    store.export("Anna", target)
    with pytest.raises(ResourceError, match="exists"):
        store.export("Anna", target)
    with pytest.raises(InputError, match="already"):
        store.take(target)
    store.take(target, "Berta")
    first, second = store.read("Anna"), store.read("Berta")
    assert (second.id, second.name) == ("Berta", "Berta")
    np.testing.assert_array_equal(first.speaker, second.speaker)
    assert first.prompt is not None
    assert second.prompt is not None
    np.testing.assert_array_equal(first.prompt.mel, second.prompt.mel)


@pytest.mark.parametrize(
    ("misfit", "reason"),
    [
        (replace(voice("v"), speaker=np.ones(256, np.float32)), "256 numbers"),
        (voice("v", frames=200), "other lengths"),
        (
            replace(
                voice("v"),
                prompt=StoredPrompt(
                    "", np.full(100, 6000, np.int32), np.ones((80, 172), np.float32)
                ),
            ),
            "other speech tokens",
        ),
        (
            replace(
                voice("v"),
                prompt=StoredPrompt(
                    "", np.ones(100, np.int32), np.ones((100, 172), np.float32)
                ),
            ),
            "100 channels",
        ),
        (
            replace(
                voice("v"),
                prompt=StoredPrompt(
                    "", np.ones(2000, np.int32), np.ones((80, 3445), np.float32)
                ),
            ),
            "longer than 30 s",
        ),
    ],
)
def test_voice_of_another_kind_of_model_is_refused(
    store: VoiceStore, misfit: StoredVoice, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=reason):
        store.add(misfit)
    path = voice_path(tmp_path / "toy" / "voices", "v")
    write_voice(path, misfit)
    assert ids(store) == ["zh_female"]
    assert reason in store.list().broken[0].message
    with pytest.raises(ModelLoadError, match=reason):
        store.read("v")


def test_broken_file_is_told_and_in_nobodys_way(
    store: VoiceStore, tmp_path: Path
) -> None:
    store.add(voice("Anna"))
    folder = tmp_path / "toy" / "voices"
    (folder / "Bad.npz").write_bytes(b"PK\x03\x04 no more")
    (folder / "Cut.npz").write_bytes((folder / "Anna.npz").read_bytes()[:5000])
    listing = store.list()
    assert [stored.id for stored in listing.voices] == ["Anna", "zh_female"]
    assert [error.message.split(".npz")[0][-3:] for error in listing.broken] == [
        "Bad",
        "Cut",
    ]
    store.remove("Bad")
    store.add(voice("Cut"), replaces=True)
    assert store.list().broken == []


def test_voice_that_is_removed_while_it_is_read_is_not_there(
    store: VoiceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add(voice("Anna"))

    def read_too_late(path: Path) -> StoredVoice:
        path.unlink(missing_ok=True)
        return read_voice(path)

    monkeypatch.setattr(store_module, "read_voice", read_too_late)
    with pytest.raises(NotFoundError, match="no voice 'Anna'"):
        store.read("Anna")
    store.add(voice("Berta"))
    assert store.list().broken == []


def test_file_that_was_renamed_goes_by_its_new_name(
    store: VoiceStore, tmp_path: Path
) -> None:
    store.add(voice("Anna"))
    folder = tmp_path / "toy" / "voices"
    (folder / "Anna.npz").rename(folder / "Berta.npz")
    assert ids(store) == ["Berta", "zh_female"]


def test_voice_is_not_added_to_a_model_that_was_removed(
    store: VoiceStore, tmp_path: Path
) -> None:
    (tmp_path / "toy" / "manifest.json").unlink()
    with pytest.raises(ModelLoadError, match="removed"):
        store.add(voice("Anna"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_cannot_be_written_is_told(
    store: VoiceStore, tmp_path: Path
) -> None:
    (tmp_path / "toy" / "voices").chmod(0o500)
    with pytest.raises(ResourceError, match="cannot be written"):
        store.add(voice("Anna"))


def _add_as(models_dir: Path, number: int) -> bool:
    speaker = np.full(192, number, np.float32)
    try:
        store = VoiceStore(installed_before(models_dir))
        store.add(replace(voice("Anna"), speaker=speaker))
    except InputError:
        return False
    return True


def installed_before(models_dir: Path) -> Bundle:
    text = (models_dir / "toy" / "manifest.json").read_text("utf-8")
    return Bundle(models_dir / "toy", Manifest.model_validate_json(text))


def test_of_two_processes_that_add_one_name_one_is_refused(tmp_path: Path) -> None:
    installed(tmp_path)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        tries = [(tmp_path, number) for number in range(8)]
        outcomes = pool.starmap(_add_as, tries)
    assert outcomes.count(True) == 1
    store = VoiceStore(installed_before(tmp_path))
    assert store.read("Anna").speaker[0] == outcomes.index(True)
    assert not list((tmp_path / "toy" / "voices").glob(".*.tmp"))


def test_stored_voice_is_read_as_the_prompt_it_was() -> None:
    recorded = voice("v").prompt
    assert recorded is not None
    tokens = recorded.tokens.astype(np.int64)
    prompt = VoicePrompt(np.ones(192, np.float32), tokens, recorded.mel, "你好。")
    stored = replace(voice("v"), prompt=prompt.recorded())
    found = prompt_of(stored, mels=80)
    np.testing.assert_array_equal(found.tokens, tokens)
    np.testing.assert_array_equal(found.mel, recorded.mel)
    assert found.tokens.dtype == np.int64
    assert found.transcript == "你好。"


def test_built_in_voice_is_a_speaker_vector_alone() -> None:
    speaker = np.ones(192, np.float32)
    assert VoicePrompt(speaker).recorded() is None
    found = prompt_of(StoredVoice("v", "v", "toy", speaker), mels=80)
    assert found.tokens.shape == (0,)
    assert found.mel.shape == (80, 0)
    assert found.transcript == ""
