"""Korean text to sentences, for models that read its letters themselves."""

import re
import unicodedata
from collections.abc import Sequence

from cosykit.synthesis.text.clean import clean
from cosykit.synthesis.text.normalize.korean import normalize_korean
from cosykit.synthesis.text.scripts import is_speakable
from cosykit.synthesis.text.sentences import join_silent, split_sentences
from cosykit.types import Sentence, Span

# Cleaning takes lone letters, as in ㅋㅋ, for parts of syllables.
_LONE_LETTERS = {
    ord(unicodedata.normalize("NFKC", letter)): letter
    for letter in map(chr, range(0x3131, 0x318F))
    if letter != "\u3164"
}
_SPACES = re.compile(" {2,}")


def korean_sentences(text: str, *, normalize: bool = True) -> Sequence[Sentence]:
    """Turn raw Korean text into sentences that lose and repeat nothing.

    Foreign words stay as they are.

    Args:
        normalize: Whether to write out numbers and units.

    Returns:
        None of them if nothing in the text can be spoken.
    """
    lines = clean(text).translate(_LONE_LETTERS).splitlines(keepends=True)
    sentences = []
    for line in join_silent(lines):
        paragraph = line.replace("\n", " ").strip()
        if normalize:
            paragraph = _SPACES.sub(" ", normalize_korean(paragraph))
        pieces = [p.strip() for p in split_sentences(paragraph) if is_speakable(p)]
        sentences += [
            Sentence(
                (Span(piece, "ko"),),
                ends_paragraph=line.endswith("\n") and number == len(pieces),
            )
            for number, piece in enumerate(pieces, 1)
        ]
    return sentences
