"""Decoders of a model, at any precision."""

from collections.abc import Callable

from cosykit.convert.graph import Graph
from cosykit.convert.models.language_model import (
    LanguageModel,
    decoder_graph,
    distances_graph,
)
from cosykit.runtime.session import Session
from cosykit.spec import Precision
from cosykit.synthesis.lm.decoder import CacheShape
from cosykit.synthesis.lm.decoder import LanguageModel as Decoder

SessionOf = Callable[[Graph], Session]
Sequences = Callable[[int], Decoder]
"""Makes the decoder of some slots."""


def sequences_of(
    model: LanguageModel,
    session_of: SessionOf,
    capacity: int,
    precision: Precision = "fp32",
) -> Sequences:
    rest: Precision = "int8" if precision == "int4" else precision
    session = session_of(decoder_graph(model, precision))
    distances = session_of(distances_graph(model, rest))
    wide = None
    if rest == "int8":
        wide = session_of(decoder_graph(model, rest, wide=True))
    sizes = model.dimensions.decoder
    shape = CacheShape(sizes.layers, sizes.heads, capacity, sizes.size // sizes.heads)
    vocabulary = model.dimensions.speech_vocabulary + 1

    def of_slots(slots: int) -> Decoder:
        return Decoder(session, lambda: distances, shape, slots, vocabulary, wide)

    return of_slots
