"""The language model of the first generation: from text and speaker to speech tokens.

    text_encoder.onnx   text tokens -> states
    lm_embedding.onnx   speech tokens, speaker vectors -> what the model reads of them
    lm_distances.onnx   how far apart frames may be -> what attention adds for it
    lm.onnx             states and embeddings, step by step -> probabilities of tokens
    lm_int8_cache.onnx  the same, with a cache of a quarter of the size
    lm_move.onnx        frames of one sequence -> the beginning of another

A sequence is [start, speaker, states of the text, task, speech tokens ...]; start and
task are the two marks. Without a speaker its place is left out.

Source: cosyvoice/llm/llm.py TransformerLM
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cosykit.convert.dimensions import EncoderDimensions, LanguageModelDimensions
from cosykit.convert.graph import Dimension, Graph, Value
from cosykit.convert.layers.basic import Embedding, Linear, unit_length
from cosykit.convert.layers.encoder import ConformerEncoder, TransformerDecoder
from cosykit.convert.layers.relative_attention import BLOCK, Cache, Past
from cosykit.convert.module import Module
from cosykit.spec import Precision

_MARKS = 2


class LanguageModel(Module):
    """The weights of an `llm.pt`."""

    def __init__(self, dimensions: LanguageModelDimensions) -> None:
        text, decoder = dimensions.text_encoder, dimensions.decoder
        tokens = dimensions.speech_vocabulary
        self.text_embedding = Embedding(dimensions.text_vocabulary, text.inputs)
        self.text_encoder = ConformerEncoder(text)
        self.text_encoder_affine_layer = Linear(text.size, decoder.inputs)
        self.llm_embedding = Embedding(_MARKS, decoder.inputs)
        self.llm = TransformerDecoder(decoder)
        self.llm_decoder = Linear(decoder.size, tokens + 1)
        self.speech_embedding = Embedding(tokens, decoder.inputs)
        self.spk_embed_affine_layer = Linear(dimensions.speaker, decoder.inputs)
        self.dimensions = dimensions


def text_encoder_graph(model: LanguageModel, precision: Precision = "fp32") -> Graph:
    """Build text_encoder.onnx.

    A text can be encoded in parts, since no state depends on later tokens. Floats are
    those of the precision: float16 at fp16, else float32.

    Inputs:
        tokens: int64 (1, tokens)
        keys_N, values_N: floats (1, heads, earlier tokens, head size), of layer N; of
            no tokens at the beginning
    Outputs:
        states: float32 (1, tokens, size)
        new_keys_N, new_values_N: the same with these tokens
    """
    graph = Graph("text_encoder", precision, granularity="row")
    tokens = graph.input("tokens", np.int64, (1, "tokens"))
    text, floats = model.dimensions.text_encoder, graph.floating
    before, after = (
        (1, text.heads, frames, text.size // text.heads)
        for frames in ("earlier", "so_far")
    )
    pasts = [
        Past(
            graph.input(f"keys_{layer}", floats, before),
            graph.input(f"values_{layer}", floats, before),
        )
        for layer in range(text.layers)
    ]
    encoded, grown = model.text_encoder.after(model.text_embedding(tokens), pasts)
    states = model.text_encoder_affine_layer(encoded).widened()
    size = model.dimensions.decoder.inputs
    graph.output("states", states, np.float32, (1, "tokens", size))
    for layer, past in enumerate(grown):
        graph.output(f"new_keys_{layer}", past.keys, floats, after)
        graph.output(f"new_values_{layer}", past.values, floats, after)
    return graph


def embedding_graph(model: LanguageModel, precision: Precision = "fp32") -> Graph:
    """Build lm_embedding.onnx.

    Inputs:
        tokens: int64 (tokens)
        speakers: float32 (speakers, speaker size), of any length
    Outputs:
        token_embeddings: float32 (tokens, size)
        speaker_embeddings: float32 (speakers, size)
        marks: float32 (2, size), start and task
    """
    dimensions, graph = model.dimensions, Graph("lm_embedding", precision)
    size = dimensions.decoder.inputs
    tokens = graph.input("tokens", np.int64, ("tokens",))
    speakers = graph.input("speakers", np.float32, ("speakers", dimensions.speaker))
    embedded = model.speech_embedding(tokens).widened()
    mapped = model.spk_embed_affine_layer(unit_length(speakers)).widened()
    marks = model.llm_embedding(graph.indices(*range(_MARKS))).widened()
    graph.output("token_embeddings", embedded, np.float32, ("tokens", size))
    graph.output("speaker_embeddings", mapped, np.float32, ("speakers", size))
    graph.output("marks", marks, np.float32, (_MARKS, size))
    return graph


def distances_graph(model: LanguageModel, precision: Precision = "fp32") -> Graph:
    """Build lm_distances.onnx, which is run once, for what lm.onnx reads ever after.

    Inputs:
        blocks: int64 (), for sequences of up to 64 times as many frames
    Outputs:
        distances_N: floats of the precision, (blocks, heads, head size, 64), of layer N
    """
    graph = Graph("lm_distances", precision)
    tables = model.llm.distances(graph.input("blocks", np.int64, ()))
    shape = _distances_shape(model.dimensions.decoder)
    for layer, table in enumerate(tables):
        graph.output(f"distances_{layer}", table, graph.floating, shape)
    return graph


def move_graph(model: LanguageModel, precision: Precision = "fp32") -> Graph:
    """Build lm_move.onnx, for caches that only graphs can reach.

    Floats are those of the precision: float16 at fp16, else float32.

    Inputs:
        source, target: floats (1, heads, any frames, head size), of one layer
        frames: int64 (1)
    Outputs:
        new_target: target, its first frames those of the source
    """
    graph, sizes = Graph("lm_move", precision), model.dimensions.decoder
    floats, size = graph.floating, sizes.size // sizes.heads
    source, target = (
        graph.input(name, floats, (1, sizes.heads, f"{name}_frames", size))
        for name in ("source", "target")
    )
    frames = graph.input("frames", np.int64, (1,))
    joined = graph.concat(
        2, source.slice(2, 0, frames), target.slice(2, frames, target.size(2))
    )
    shape = (1, sizes.heads, "target_frames", size)
    graph.output("new_target", joined, floats, shape)
    return graph


@dataclass(frozen=True, slots=True)
class CacheScales:
    """What the keys and values of an int8 cache are multiples of.

    Attributes:
        keys: float32 (layers, heads, head size).
        values: As keys.
    """

    keys: NDArray[np.float32]
    values: NDArray[np.float32]


def decoder_graph(
    model: LanguageModel,
    precision: Precision = "fp32",
    scales: CacheScales | None = None,
) -> Graph:
    """Build lm.onnx, or lm_int8_cache.onnx where there are scales.

    Several steps can be taken of one sequence, one step of several. The caches may be
    bound to the same memory as input and output; then they grow in place. Floats are
    those of the precision: float16 at fp16, else float32.

    Inputs:
        embeddings: float32 (batch, steps, size)
        lengths: int64 (batch), frames of each sequence in the cache
        keys_N, values_N: floats, or int8, (batch, heads, capacity, head size), of
            layer N
        distances_N: floats (blocks, heads, head size, 64), as lm_distances.onnx gives
            them, or its first blocks: at least as many distances as frames
    Outputs:
        log_probabilities: float32 (batch, speech tokens + 1), of what follows the last
            step; the token beyond the vocabulary ends the speech
        new_keys_N, new_values_N: as keys_N, values_N
    """
    sizes, graph = model.dimensions.decoder, Graph("lm", precision, granularity="block")
    x = graph.input("embeddings", np.float32, ("batch", "steps", sizes.inputs))
    lengths = graph.input("lengths", np.int64, ("batch",))
    kind: DTypeLike = np.int8 if scales else graph.floating
    caches = _cache_inputs(graph, sizes, kind, scales)
    state, grown = model.llm(x.lowered(), lengths, caches)
    scores = model.llm_decoder(state.squeeze(1)).widened()
    graph.output(
        "log_probabilities",
        graph.op("LogSoftmax", scores, attributes={"axis": -1}),
        np.float32,
        ("batch", model.dimensions.speech_vocabulary + 1),
    )
    shape = _cache_shape(sizes)
    for layer, cache in enumerate(grown):
        graph.output(f"new_keys_{layer}", cache.keys, kind, shape)
        graph.output(f"new_values_{layer}", cache.values, kind, shape)
    return graph


def _cache_inputs(
    graph: Graph, sizes: EncoderDimensions, kind: DTypeLike, scales: CacheScales | None
) -> Sequence[Cache]:
    shape, table = _cache_shape(sizes), _distances_shape(sizes)
    return [
        Cache(
            graph.input(f"keys_{layer}", kind, shape),
            graph.input(f"values_{layer}", kind, shape),
            graph.input(f"distances_{layer}", graph.floating, table),
            _scales_of_layer(graph, scales, layer) if scales else None,
        )
        for layer in range(sizes.layers)
    ]


def _scales_of_layer(
    graph: Graph, scales: CacheScales, layer: int
) -> tuple[Value, Value]:
    keys, values = (of[layer][None, :, None] for of in (scales.keys, scales.values))
    return graph.constant(keys), graph.constant(values)


def _cache_shape(sizes: EncoderDimensions) -> Sequence[Dimension]:
    return ("batch", sizes.heads, "capacity", sizes.size // sizes.heads)


def _distances_shape(sizes: EncoderDimensions) -> Sequence[Dimension]:
    return ("blocks", sizes.heads, sizes.size // sizes.heads, BLOCK)
