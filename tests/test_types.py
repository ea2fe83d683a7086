"""Languages are recognised by their tags."""

import pytest

from cosykit.types import Language, language_of_tag


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("zh", "zh"),
        ("zh-CN", "zh"),
        ("zh_TW", "zh"),
        ("zh-Hans-CN", "zh"),
        ("cmn-Hans", "zh"),
        ("zh-HK", "yue"),
        ("yue-HK", "yue"),
        ("en_US", "en"),
        (" JA-jp ", "ja"),
        ("ko-KR", "ko"),
        ("fr-FR", None),
        ("english", None),
        ("", None),
    ],
)
def test_tag_names_a_language(tag: str, language: Language | None) -> None:
    assert language_of_tag(tag) == language
