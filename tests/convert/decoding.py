"""Decoders and text encoders of a model, at any precision."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosykit.convert.graph import Graph
from cosykit.convert.models.language_model import (
    CacheScales,
    LanguageModel,
    decoder_graph,
    distances_graph,
    move_graph,
    text_encoder_graph,
)
from cosykit.runtime.blocks import HOST
from cosykit.runtime.session import Session
from cosykit.spec import Precision
from cosykit.synthesis.lm.cache import CacheShape
from cosykit.synthesis.lm.decoder import LanguageModel as Decoder

SessionOf = Callable[[Graph], Session]
Sequences = Callable[[int], Decoder]
"""Makes the decoder of some slots."""
Array = NDArray[Any]
Encode = Callable[..., Array]
"""Maps parts of a text, (1, tokens) each, to the states of all, (1, tokens, size)."""


def encoder_of(
    model: LanguageModel, session_of: SessionOf, precision: Precision = "fp32"
) -> Encode:
    session = session_of(text_encoder_graph(model, precision))
    names = [name for name in session.inputs if name != "tokens"]

    def encode(*parts: Array) -> Array:
        past, states = [session.nothing(name) for name in names], []
        for part in parts:
            feeds = dict(zip(names, past, strict=True))
            outputs = ["states", *(f"new_{name}" for name in names)]
            found, *past = session.run(
                {"tokens": part.astype(np.int64), **feeds}, outputs
            )
            states.append(found)
        return np.concatenate(states, axis=1)

    return encode


def sequences_of(
    model: LanguageModel,
    session_of: SessionOf,
    capacity: int,
    precision: Precision = "fp32",
    scales: CacheScales | None = None,
) -> Sequences:
    """Make decoders, with a cache of int8 where there are scales."""
    rest: Precision = "int8" if precision == "int4" else precision
    session = session_of(decoder_graph(model, precision, scales))
    distances = session_of(distances_graph(model, rest))
    mover = None
    if session.place_of("keys_0") != HOST:
        mover = session_of(move_graph(model, precision))
    sizes = model.dimensions.decoder
    shape = CacheShape(sizes.layers, sizes.heads, capacity, sizes.size // sizes.heads)
    vocabulary = model.dimensions.speech_vocabulary + 1

    def of_slots(slots: int) -> Decoder:
        return Decoder(session, lambda: distances, shape, slots, vocabulary, mover)

    return of_slots
