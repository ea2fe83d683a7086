"""From text to the tokens of Whisper's multilingual models, and back."""

import lzma
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from cosykit.synthesis.text.whisper.pairs import encode_word
from cosykit.synthesis.text.whisper.special import (
    FIRST_SPECIAL,
    special_tokens,
    split_special,
)
from cosykit.synthesis.text.whisper.words import split_words


class WhisperTokenizer:
    """Reads text as the first CosyVoice models were taught to.

    Special tokens such as `<|zh|>` may stand anywhere in the text.

    Source: whisper/tokenizer.py get_encoding
    """

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return FIRST_SPECIAL + len(special_tokens())

    def encode(self, text: str) -> NDArray[np.int64]:
        """Turn text into tokens, int64 (tokens); any text will do, also none."""
        ranks = _ranks()
        tokens: list[int] = []
        for part, special in split_special(_well_formed(text)):
            if special is not None:
                tokens.append(special)
                continue
            for word in split_words(part):
                tokens += encode_word(word.encode(), ranks)
        return np.array(tokens, np.int64)

    def decode(self, tokens: Sequence[int] | NDArray[np.int64]) -> str:
        """Turn tokens back into text; characters that were cut apart become U+FFFD."""
        by_id = _by_id()
        return b"".join(by_id[token] for token in tokens).decode(errors="replace")


def _well_formed(text: str) -> str:
    """Join surrogates in pairs, and replace those that stand alone."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@cache
def _ranks() -> Mapping[bytes, int]:
    """Load the tokens: how long each is, in a byte, and then all of them joined."""
    packed = files(__package__).joinpath("data", "multilingual.xz").read_bytes()
    table = lzma.decompress(packed)
    lengths, joined = table[:FIRST_SPECIAL], table[FIRST_SPECIAL:]
    ends = accumulate(lengths, initial=0)
    tokens = (joined[start:end] for start, end in pairwise(ends))
    return {token: rank for rank, token in enumerate(tokens)}


@cache
def _by_id() -> Sequence[bytes]:
    return [*_ranks(), *(name.encode() for name in special_tokens())]
