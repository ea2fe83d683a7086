"""Cut phonemised sentences into the pieces that the model speaks in one run.

The first piece is short, so that audio starts early; later ones are longer, because
whole sentences sound better and each run has a fixed cost.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple


class Limit(NamedTuple):
    """How long a piece is, in phonemes.

    A Mandarin syllable is about 4 of them, an English word about 6, a second about 20.

    Attributes:
        usual: What pieces are filled up to.
        longest: What they may grow to rather than to be cut or left short.
    """

    usual: int
    longest: int


# On two cores the first 44 phonemes take half a second, 104 a whole one.
FIRST_PIECE = Limit(44, 104)
# A run's memory grows with its length: 350 MB for 120 phonemes, 470 MB for 200.
PIECE = Limit(150, 170)
# The model slurs what is shorter than this: 银行行长觉得, spoken alone, was heard as
# 以航航仗觉得, and rightly together with the next clause.
SHORTEST_PIECE = 36
# A tail of a word or two belongs to what it follows.
_TAIL = 12
_CLAUSE_END = re.compile(r"(?<=[,;:—…!?.])\s+|(?<=[—…])(?=\S)")
_SENTENCE_END = ".!?…"
_PARAGRAPH_PAUSE_S = 0.55


@dataclass(frozen=True, slots=True)
class PhonemeSentence:
    """A sentence as phonemes.

    Attributes:
        phonemes: Symbols of the model, with punctuation.
        text: The normalised text they stand for.
        ends_paragraph: Whether a line break follows.
    """

    phonemes: str
    text: str
    ends_paragraph: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """What one run speaks.

    Attributes:
        pause_s: Silence after it at normal speed.
    """

    phonemes: str
    text: str
    pause_s: float


def cut_into_pieces(sentences: Iterable[PhonemeSentence]) -> Iterator[Piece]:
    """Yield pieces as the sentences come; nothing is lost or said twice."""
    limit = FIRST_PIECE
    piece: Piece | None = None
    for clause in _clauses(sentences):
        if piece and _belongs(piece, clause, limit):
            piece = _joined(piece, clause)
            continue
        if piece:
            yield piece
            limit = PIECE
        piece = clause
    if piece:
        yield piece


def _belongs(piece: Piece, clause: Piece, limit: Limit) -> bool:
    together = len(piece.phonemes) + 1 + len(clause.phonemes)
    if piece.pause_s >= _PARAGRAPH_PAUSE_S:
        return False
    if len(piece.phonemes) < SHORTEST_PIECE or len(clause.phonemes) < _TAIL:
        return together <= limit.longest
    return together <= limit.usual and piece.phonemes[-1] not in _SENTENCE_END


def _joined(piece: Piece, clause: Piece) -> Piece:
    return Piece(
        f"{piece.phonemes} {clause.phonemes}", piece.text + clause.text, clause.pause_s
    )


def _clauses(sentences: Iterable[PhonemeSentence]) -> Iterator[Piece]:
    """Split sentences at their commas, and overlong clauses at their words.

    The first clause of a sentence carries its text.
    """
    limit = FIRST_PIECE
    for sentence in sentences:
        text = sentence.text
        clauses = [
            part
            for clause in _CLAUSE_END.split(sentence.phonemes.strip())
            for part in _cut(clause.strip(), limit)
        ]
        for number, clause in enumerate(clauses, start=1):
            ends_paragraph = sentence.ends_paragraph and number == len(clauses)
            pause_s = _PARAGRAPH_PAUSE_S if ends_paragraph else _pause_after(clause)
            yield Piece(clause, text, pause_s)
            limit, text = PIECE, ""


def _cut(clause: str, limit: Limit) -> Iterator[str]:
    """Cut a clause that is far too long: at a space, where there is none anywhere."""
    while len(clause) > limit.longest:
        space = clause.rfind(" ", SHORTEST_PIECE, limit.usual + 1)
        cut = space if space > 0 else limit.usual
        yield clause[:cut].strip()
        clause, limit = clause[cut:].strip(), PIECE
    if clause:
        yield clause


def _pause_after(clause: str) -> float:
    if clause[-1] in _SENTENCE_END:
        return 0.32
    return 0.16 if clause[-1] in ",;:—" else 0.04
