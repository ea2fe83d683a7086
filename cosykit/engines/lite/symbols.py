"""Phonemes to the ids of the model's symbol table."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

MAX_PHONEMES = 510


@cache
def symbol_ids() -> Mapping[str, int]:
    """Load the symbol table."""
    resource = files(__package__) / "data" / "symbols.json"
    table: Mapping[str, int] = json.loads(resource.read_text(encoding="utf-8"))
    return table


def phoneme_ids(phonemes: str) -> NDArray[np.int64]:
    """Encode phonemes for the model, framed by the padding id 0, shape (1, n + 2).

    Symbols that the table does not know are left out.

    Args:
        phonemes: 1 to `MAX_PHONEMES` symbols.
    """
    table = symbol_ids()
    ids = [table[symbol] for symbol in known_symbols(phonemes)]
    return np.array([[0, *ids, 0]], dtype=np.int64)


def known_symbols(phonemes: str) -> str:
    """Leave out what the symbol table does not know."""
    table = symbol_ids()
    return "".join(symbol for symbol in phonemes if symbol in table)
