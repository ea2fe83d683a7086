"""A piece is parted where its language changes, and only Chinese with English is."""

from cosykit.engines.lite.stretches import Stretch, is_mixed, stretches


def test_words_of_one_language_stay_together() -> None:
    assert stretches("ʂwo→ ‹jˈɛs, ‹ˌI ‹dˈu, ʐan↗ xou↘.") == [
        Stretch("ʂwo→", False),
        Stretch("jˈɛs, ˌI dˈu,", True),
        # ʐ is in no table of the model.
        Stretch("an↗ xou↘.", False),
    ]


def test_lone_marks_go_with_the_word_before() -> None:
    parts = stretches("“ ‹jˈɛs ” ʂwo→ — ‹nˈO")
    assert [part.phonemes for part in parts] == ["jˈɛs ”", "ʂwo→ —", "nˈO"]


def test_one_language_is_not_mixed() -> None:
    assert not is_mixed(stretches("ʂwo→ xou↘."))
    assert not is_mixed(stretches("‹jˈɛs, ‹ˌI ‹dˈu."))


def test_chinese_with_english_is_mixed_and_english_with_a_name_is_not() -> None:
    assert is_mixed(stretches("ʂwo→ xou↘ ‹jˈɛs ʂwo→."))
    assert not is_mixed(stretches("‹hˈɛlO, ‹mˌI ‹nˈAm ‹ˌɪz ʂwo→."))
