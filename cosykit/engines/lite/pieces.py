"""Cut phonemised sentences into the pieces that the model speaks in one run.

The first piece is short, so that audio starts early; later ones are longer, because
whole sentences sound better and each run has a fixed cost.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# In phonemes. A Mandarin syllable is about 4 of them, an English word about 6.
FIRST_PIECE = 44
PIECE = 150
# A cut inside a clause is heard and hard to understand, so a clause may be this much
# longer than a piece before it is cut.
_SLACK = 2
# Shorter pieces than this sound clipped and hurried.
SHORTEST_PIECE = 12
_CLAUSE_END = re.compile(r"(?<=[,;:—…!?.])\s+|(?<=[—…])(?=\S)")
_SENTENCE_END = ".!?…"


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
    for sentence in sentences:
        text = sentence.text
        parts = _pack(_clauses(sentence.phonemes, limit), limit)
        for part in parts:
            is_last = part is parts[-1]
            yield Piece(part, text, _pause_after(part, sentence, is_last))
            limit, text = PIECE, ""


def _pack(clauses: Iterable[str], first_limit: int) -> list[str]:
    """Join clauses into parts: the first within its limit, the others within PIECE."""
    parts: list[str] = []
    for clause in clauses:
        limit = first_limit if len(parts) == 1 else PIECE
        if parts and _joins(parts[-1], clause, limit):
            parts[-1] = f"{parts[-1]} {clause}"
        else:
            parts.append(clause)
    return parts


def _joins(part: str, clause: str, limit: int) -> bool:
    together = len(part) + 1 + len(clause)
    too_short = min(len(part), len(clause)) < SHORTEST_PIECE
    return together <= (PIECE if too_short else limit)


def _clauses(phonemes: str, first_limit: int) -> Iterator[str]:
    """Split a sentence at its commas, and where there are none at its words."""
    limit = first_limit
    for clause in _CLAUSE_END.split(phonemes.strip()):
        rest = clause.strip()
        while len(rest) > _SLACK * limit:
            space = rest.rfind(" ", SHORTEST_PIECE, limit + 1)
            cut = space if space > 0 else limit
            yield rest[:cut].strip()
            rest, limit = rest[cut:].strip(), PIECE
        if rest:
            yield rest
        limit = PIECE


def _pause_after(part: str, sentence: PhonemeSentence, is_last: bool) -> float:
    if is_last and sentence.ends_paragraph:
        return 0.55
    if part[-1] in _SENTENCE_END:
        return 0.32
    return 0.16 if part[-1] in ",;:—" else 0.04
