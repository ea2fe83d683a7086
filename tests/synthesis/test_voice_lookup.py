"""Voices are found by id, name and alias, in the language of the text."""

from dataclasses import replace

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
        ("longxiaochun", "zh", "zf_xiaoxiao"),
        ("longxiaochun_v2", "en", "af_heart"),
        ("longanyang", "zh", "zm_yunxi"),
        ("LongCheng_v3.5", "en", "am_michael"),
        ("loongstella", "ja", "jf_alpha"),
        ("中文女", "zh", "zf_xiaoxiao"),
        ("zh_female", "zh", "zf_xiaoxiao"),
        ("en_male", "en", "am_michael"),
        ("英文男", "en", "am_michael"),
    ],
)
def test_voice_is_found(name: str | None, language: Language, expected: str) -> None:
    assert find_voice(VOICES, name, language).id == expected


def test_unknown_voice_names_the_nearest_and_all() -> None:
    with pytest.raises(NotFoundError, match=r"Did you mean af_heart\?.*jf_alpha"):
        find_voice(VOICES, "af_hart", "en")


@pytest.mark.parametrize("name", ["long", "long voice", "xlongwan", "longwan_v"])
def test_name_that_only_looks_hosted_is_unknown(name: str) -> None:
    with pytest.raises(NotFoundError):
        find_voice(VOICES, name, "zh")


def test_voice_that_has_a_hosted_name_keeps_it() -> None:
    own = replace(VOICES[1], id="longxiaochun", name="Own")
    assert find_voice([*VOICES, own], "longxiaochun", "zh") is own


@pytest.mark.parametrize("name", ["longxiaochun", "alloy", "Onyx"])
def test_name_of_another_service_goes_to_any_voice_where_none_is_of_its_gender(
    name: str,
) -> None:
    # Such as a voice that was cloned, whose gender nobody told.
    only = replace(VOICES[1], gender=None, aliases=())
    assert find_voice([only], name, "zh") is only


def test_ids_and_names_are_unique() -> None:
    labels = [label.casefold() for v in VOICES for label in (v.id, v.name)]
    assert len(labels) == len(set(labels))


def test_model_without_voices_says_how_to_add_one() -> None:
    with pytest.raises(NotFoundError) as missing:
        find_voice([], "anna", "en")
    assert "cosykit voices add" in missing.value.hint
