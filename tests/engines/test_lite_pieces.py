"""Pieces start short, grow, and neither lose nor repeat a phoneme."""

from hypothesis import given
from hypothesis import strategies as st

from cosykit.engines.lite.pieces import (
    FIRST_PIECE,
    PIECE,
    PhonemeSentence,
    cut_into_pieces,
)
from cosykit.engines.lite.symbols import MAX_PHONEMES


def pieces_of(*phonemes: str) -> list[str]:
    sentences = [PhonemeSentence(line, "text", False) for line in phonemes]
    return [piece.phonemes for piece in cut_into_pieces(sentences)]


def test_first_piece_is_the_first_clause() -> None:
    first, second = pieces_of("a" * 40 + ", " + "b" * 40 + ", " + "c" * 40 + ".")
    assert first == "a" * 40 + ","
    assert second == "b" * 40 + ", " + "c" * 40 + "."


def test_clause_too_short_to_stand_alone_takes_the_next() -> None:
    first, second = pieces_of("a" * 20 + ", " + "b" * 40 + ", " + "c" * 60 + ".")
    assert first == "a" * 20 + ", " + "b" * 40 + ","
    assert second == "c" * 60 + "."


def test_short_sentences_share_a_piece() -> None:
    assert pieces_of("aa.", "bb.", "c" * 40 + ".", "d" * 40 + ".") == [
        "aa. bb. " + "c" * 40 + ".",
        "d" * 40 + ".",
    ]


def test_paragraphs_stay_apart() -> None:
    sentences = [PhonemeSentence("aa.", "t", True), PhonemeSentence("bb.", "t", False)]
    assert len(list(cut_into_pieces(sentences))) == 2


def test_short_tail_joins_the_piece_before() -> None:
    assert pieces_of("a" * 40 + ", " + "b" * 5 + ".") == [
        "a" * 40 + ", " + "b" * 5 + "."
    ]


def test_long_first_clause_is_cut_at_a_word() -> None:
    first, *_ = pieces_of(" ".join(["abcdefg"] * 30) + ".")
    assert len(first) <= FIRST_PIECE.usual
    assert first.endswith("abcdefg")


def test_clause_that_is_a_little_long_is_not_cut() -> None:
    clause = " ".join(["abcdefg"] * 10) + "."
    assert pieces_of(clause) == [clause]


def test_later_sentences_are_whole_pieces() -> None:
    sentence = "b" * 60 + ", " + "c" * 60 + "."
    assert pieces_of("a" * 40 + ".", sentence)[1:] == [sentence]


def test_pauses_follow_the_punctuation() -> None:
    sentences = [
        PhonemeSentence("a" * 40 + ", " + "b" * 40 + ".", "t", False),
        PhonemeSentence("c" * 40 + ".", "t", True),
    ]
    comma, stop, paragraph = [p.pause_s for p in cut_into_pieces(sentences)]
    assert 0 < comma < stop < paragraph


@given(
    st.lists(
        st.text(alphabet="ab ,.;—…!", min_size=1, max_size=900).filter(str.strip),
        max_size=4,
    )
)
def test_nothing_is_lost_repeated_or_too_long(sentences: list[str]) -> None:
    pieces = pieces_of(*sentences)
    said = "".join("".join(pieces).split())
    assert said == "".join("".join(sentences).split())
    assert all(0 < len(piece) <= MAX_PHONEMES for piece in pieces)
    assert all(len(piece) <= PIECE.longest for piece in pieces)
