"""Voices are found by id, name and alias, in the language of the text."""

import pytest

from cosykit.engines.lite.voices import VOICES
from cosykit.errors import NotFoundError
from cosykit.synthesis.voice.lookup import find_voice
from cosykit.types import Language


@pytest.mark.parametrize(
    ("name", "language", "expected"),
    [
        (None, "zh", "zf_xiaoxiao"),
        (None, "en", "af_heart"),
        (None, "ja", "jf_alpha"),
        (" ", "en", "af_heart"),
        ("zm_yunxi", "en", "zm_yunxi"),
        ("ZM_Yunxi", "en", "zm_yunxi"),
        ("云希", "zh", "zm_yunxi"),
        ("heart", "zh", "af_heart"),
        ("alloy", "zh", "zf_xiaoxiao"),
        ("alloy", "en", "af_heart"),
        ("alloy", "ja", "jf_alpha"),
        ("onyx", "zh", "zm_yunxi"),
        ("Echo", "en", "am_michael"),
        ("onyx", "ja", "zm_yunxi"),
    ],
)
def test_voice_is_found(name: str | None, language: Language, expected: str) -> None:
    assert find_voice(VOICES, name, language).id == expected


def test_unknown_voice_names_the_nearest_and_all() -> None:
    with pytest.raises(NotFoundError, match=r"Did you mean af_heart\?.*jf_alpha"):
        find_voice(VOICES, "af_hart", "en")


def test_ids_and_names_are_unique() -> None:
    labels = [label.casefold() for v in VOICES for label in (v.id, v.name)]
    assert len(labels) == len(set(labels))


def test_model_without_voices_says_how_to_add_one() -> None:
    with pytest.raises(NotFoundError) as missing:
        find_voice([], "anna", "en")
    assert "cosykit voices add" in missing.value.hint
