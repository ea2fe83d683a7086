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
# Shorter pieces than this sound clipped and hurried.
SHORTEST_PIECE = 12
_CLAUSE_END = re.compile(r"(?<=[,;:—…!?.])\s+|(?<=[—…])")
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
        for part, is_last in _parts(sentence.phonemes, limit):
            yield Piece(part, text, _pause_after(part, sentence, is_last))
            limit, text = PIECE, ""


def _parts(phonemes: str, first_limit: int) -> Iterator[tuple[str, bool]]:
    """Split one sentence, the first part within its limit, the others within PIECE."""
    rest, limit = phonemes.strip(), first_limit
    while len(rest) > limit:
        cut = _cut_position(rest, limit)
        if len(rest) - cut < SHORTEST_PIECE and len(rest) <= PIECE:
            break
        yield rest[:cut].strip(), False
        rest, limit = rest[cut:].strip(), PIECE
    if rest:
        yield rest, True


def _cut_position(phonemes: str, limit: int) -> int:
    """Find where to cut: the last clause end in reach, else a space, else the limit."""
    clause_ends = [
        match.start()
        for match in _CLAUSE_END.finditer(phonemes)
        if match.start() >= SHORTEST_PIECE
    ]
    in_reach = [end for end in clause_ends if end <= limit]
    if in_reach:
        return in_reach[0] if limit == FIRST_PIECE else in_reach[-1]
    if clause_ends and clause_ends[0] <= PIECE:
        return clause_ends[0]
    if len(phonemes) <= PIECE:
        return len(phonemes)
    space = phonemes.rfind(" ", SHORTEST_PIECE, PIECE)
    return space if space > 0 else PIECE


def _pause_after(part: str, sentence: PhonemeSentence, is_last: bool) -> float:
    if is_last and sentence.ends_paragraph:
        return 0.55
    if part[-1] in _SENTENCE_END:
        return 0.32
    return 0.16 if part[-1] in ",;:—" else 0.04
