import pytest

from cosykit.synthesis.text.english.inflection import (
    Ending,
    Inflected,
    analyses,
    attach,
    unknown_stem,
)


@pytest.mark.parametrize(
    ("word", "stem", "ending"),
    [
        ("cats", "cat", "s"),
        ("boxes", "box", "s"),
        ("cities", "city", "s"),
        ("cat's", "cat", "s"),
        ("dogs'", "dog", "s"),
        ("baked", "bake", "ed"),
        ("walked", "walk", "ed"),
        ("tried", "try", "ed"),
        ("stopped", "stop", "ed"),
        ("making", "make", "ing"),
        ("walking", "walk", "ing"),
        ("stopping", "stop", "ing"),
        ("there'll", "there", "'ll"),
    ],
)
def test_stem_is_among_the_analyses(word: str, stem: str, ending: Ending) -> None:
    assert Inflected(stem, ending) in analyses(word)


@pytest.mark.parametrize("word", ["", "s", "ed", "ing", "boss", "cat", "is"])
def test_words_without_an_ending_have_no_analysis(word: str) -> None:
    assert not list(analyses(word))


@pytest.mark.parametrize(
    ("stem", "ending", "phonemes"),
    [
        ("kˈæt", "s", "kˈæts"),
        ("dˈɔɡ", "s", "dˈɔɡz"),
        ("bˈʌz", "s", "bˈʌzᵻz"),
        ("wˈɔk", "ed", "wˈɔkt"),
        ("bˈɛɡ", "ed", "bˈɛɡd"),
        ("nˈid", "ed", "nˈidᵻd"),
        ("vˈOt", "ed", "vˈOTᵻd"),
        ("wˈɑnt", "ed", "wˈɑntᵻd"),
        ("vˈOt", "ing", "vˈOTɪŋ"),
        ("ʃi", "'d", "ʃid"),
        ("ɪt", "'d", "ɪtəd"),
        ("", "s", ""),
    ],
)
def test_ending_takes_its_sound_from_the_stem(
    stem: str, ending: Ending, phonemes: str
) -> None:
    assert attach(stem, ending) == phonemes


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("zorblaxes", "zorblaxe"),
        ("grimmies", "grimmy"),
        ("flibing", "flibe"),
        ("zorbited", "zorbit"),
        ("prunning", "prun"),
        ("gorps", None),
        ("zorbius", None),
        ("zorbeed", None),
    ],
)
def test_unknown_words_lose_their_ending(word: str, stem: str | None) -> None:
    inflected = unknown_stem(word)
    assert (inflected.stem if inflected else None) == stem
