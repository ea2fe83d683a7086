"""The reading dictionary finds words and takes corrections."""

from pathlib import Path

import pytest

from cosykit.synthesis.text.japanese.homographs import Homographs
from cosykit.synthesis.text.japanese.lattice import Word, split_words
from cosykit.synthesis.text.japanese.lexicon import BUNDLED, Lexicon

NO_WORDS = "# none\n"


@pytest.fixture(scope="module")
def ipadic(tmp_path_factory: pytest.TempPathFactory) -> Lexicon:
    words = tmp_path_factory.mktemp("words") / "words.tsv"
    words.write_text(NO_WORDS, encoding="utf-8")
    return Lexicon(BUNDLED, words)


def _with(tmp_path: Path, line: str) -> Lexicon:
    words = tmp_path / "words.tsv"
    words.write_text(f"# a comment\n\n{line}\n", encoding="utf-8")
    return Lexicon(BUNDLED, words)


def _readings(lexicon: Lexicon, text: str) -> list[str]:
    return [word.pronunciation for word in split_words(text, lexicon)]


def test_finds_every_word_that_starts_at_a_place(ipadic: Lexicon) -> None:
    found = {entry.surface for entry in ipadic.words_at("図書館員", 0)}
    assert {"図", "図書", "図書館", "図書館員"} & found >= {"図書", "図書館"}
    assert all("図書館員".startswith(surface) for surface in found)


@pytest.mark.parametrize("text", ["", "\x00", "\U0010ffff", "~", "ﷺ"])
def test_finds_nothing_where_no_word_starts(ipadic: Lexicon, text: str) -> None:
    assert not [e for e in ipadic.words_at(text, 0) if e.pronunciation]


def test_cheapest_words_win_over_the_longest(ipadic: Lexicon) -> None:
    assert _readings(ipadic, "すもももももももものうち") == [
        "スモモ", "モ", "モモ", "モ", "モモ", "ノ", "ウチ",
    ]  # fmt: skip


def test_correction_changes_the_reading_of_a_known_word(tmp_path: Path) -> None:
    assert _readings(_with(tmp_path, "日本\tニホン"), "日本の") == ["ニホン", "ノ"]
    assert _readings(_with(tmp_path, "日本\tヤマト"), "日本の") == ["ヤマト", "ノ"]


def test_new_word_is_found_as_a_whole(tmp_path: Path) -> None:
    lexicon = _with(tmp_path, "推し活中\tオシカツチュー\t名詞,一般")
    assert _readings(lexicon, "推し活中だ") == ["オシカツチュー", "ダ"]


def test_unknown_part_of_speech_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="名詞,無"):
        _with(tmp_path, "推し\tオシ\t名詞,無")


def test_context_chooses_the_reading_of_a_homograph(tmp_path: Path) -> None:
    table = tmp_path / "homographs.tsv"
    table.write_text("角\tツノ\t牛の\n角\tカド\t\t[をに]\n", encoding="utf-8")
    homographs = Homographs(table)

    def reading(before: str, after: str) -> str:
        words = [Word(part, "", "名詞,一般") for part in (before, "角", after)]
        chosen = homographs.choose(words, f"{before}角{after}")
        return chosen[1].pronunciation

    assert reading("牛の", "を") == "ツノ"
    assert reading("この", "を") == "カド"
    assert reading("この", "は") == ""
