import pytest

from cosykit.synthesis.text.english.lexicon import Entry, Lexicon

LINES = """
a\tA
ab\tˈæb
abc\t~ˈæbk
close\tklˈOs\tNOUN=klˈOz\tVERB=klˈOz
elaborate\təlˈæbəɹˌAt\tADJ=əlˈæbəɹət
import\tɪmpˈɔɹt\tNOUN=ˈɪmpˌɔɹt
will\twɪl\tPAUSE=wˈɪl
étude\tˈATˌud
""".strip()


@pytest.fixture
def lexicon() -> Lexicon:
    return Lexicon(LINES.encode())


def known(lexicon: Lexicon, word: str) -> Entry:
    entry = lexicon.find(word)
    assert entry
    return entry


def test_every_word_is_found(lexicon: Lexicon) -> None:
    for word, entry in lexicon:
        assert lexicon.find(word) == entry


@pytest.mark.parametrize("word", ["", "A", "abcd", "b", "zoo", "a\tA", "\n", "Ab"])
def test_missing_words_are_not_found(lexicon: Lexicon, word: str) -> None:
    assert lexicon.find(word) is None


def test_derived_entries_are_less_certain(lexicon: Lexicon) -> None:
    assert known(lexicon, "ab").certain
    assert not known(lexicon, "abc").certain
    assert known(lexicon, "abc").phonemes == "ˈæbk"


def test_part_of_speech_chooses_the_reading(lexicon: Lexicon) -> None:
    close = known(lexicon, "close")
    assert close.reading() == close.reading("ADJ") == "klˈOs"
    assert close.reading("MODIFIER") == "klˈOs"
    assert close.reading("VERB") == "klˈOz"


def test_usual_reading_is_the_verb_where_nouns_have_their_own(
    lexicon: Lexicon,
) -> None:
    assert known(lexicon, "import").reading("MODIFIER") == "ˈɪmpˌɔɹt"
    assert known(lexicon, "import").reading("VERB") == "ɪmpˈɔɹt"
    assert known(lexicon, "elaborate").reading("NOUN") == "əlˈæbəɹət"


def test_pause_makes_a_small_word_strong(lexicon: Lexicon) -> None:
    assert known(lexicon, "will").reading("VERB", pause=True) == "wˈɪl"
    assert known(lexicon, "will").reading("VERB") == "wɪl"
