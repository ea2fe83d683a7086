"""Where a piece of Chinese goes over into English, and back."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from cosykit.engines.lite.symbols import known_symbols
from cosykit.synthesis.text.phonemes import ENGLISH_WORD

# With less Chinese than this a sentence is English with a Chinese name or two, which
# belong into its run.
_LEAST_CHINESE = 1 / 3


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring words of one language, in phonemes without the marks of words."""

    phonemes: str
    is_english: bool


def stretches(phonemes: str) -> list[Stretch]:
    """Part phonemes by language; marks go with the word before them."""
    words: list[tuple[bool, str]] = []
    for word in phonemes.split():
        is_english = word.startswith(ENGLISH_WORD)
        symbols = known_symbols(word)
        if any(map(str.isalpha, symbols)):
            words.append((is_english, symbols))
        elif words and symbols:
            words.append((words[-1][0], symbols))
    return [
        Stretch(" ".join(word for _, word in run), is_english)
        for is_english, run in groupby(words, key=lambda word: word[0])
    ]


def is_mixed(parts: Sequence[Stretch]) -> bool:
    """Tell whether this is Chinese with English in it, not the other way round."""
    length = sum(len(part.phonemes) for part in parts)
    chinese = sum(len(part.phonemes) for part in parts if not part.is_english)
    return len(parts) > 1 and chinese >= _LEAST_CHINESE * length
