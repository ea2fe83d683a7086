"""The language model of the first generation: from text and speaker to speech tokens.

    text_encoder.onnx   text tokens -> states
    lm_embedding.onnx   speech tokens, speaker vectors -> what the model reads of them
    lm.onnx             states and embeddings, step by step -> probabilities of tokens

A sequence is [start, speaker, states of the text, task, speech tokens ...]; start and
task are the two marks. Without a speaker its place is left out.

Source: cosyvoice/llm/llm.py TransformerLM
"""

import numpy as np

from cosykit.convert.dimensions import LanguageModelDimensions
from cosykit.convert.graph import Graph
from cosykit.convert.layers.basic import Embedding, Linear, unit_length
from cosykit.convert.layers.encoder import ConformerEncoder, TransformerDecoder
from cosykit.convert.layers.relative_attention import Cache
from cosykit.convert.module import Module

_MARKS = 2


class LanguageModel(Module):
    """The weights of an `llm.pt`."""

    def __init__(self, dimensions: LanguageModelDimensions) -> None:
        text, decoder = dimensions.text_encoder, dimensions.decoder
        tokens = dimensions.speech_vocabulary
        self.text_embedding = Embedding(dimensions.text_vocabulary, text.inputs)
        self.text_encoder = ConformerEncoder(text, causal=True)
        self.text_encoder_affine_layer = Linear(text.size, decoder.inputs)
        self.llm_embedding = Embedding(_MARKS, decoder.inputs)
        self.llm = TransformerDecoder(decoder)
        self.llm_decoder = Linear(decoder.size, tokens + 1)
        self.speech_embedding = Embedding(tokens, decoder.inputs)
        self.spk_embed_affine_layer = Linear(dimensions.speaker, decoder.inputs)
        self.dimensions = dimensions


def text_encoder_graph(model: LanguageModel) -> Graph:
    """Build text_encoder.onnx.

    Inputs:
        tokens: int64 (1, tokens)
    Outputs:
        states: float32 (1, tokens, size); each depends on the tokens up to its own
    """
    graph = Graph("text_encoder")
    tokens = graph.input("tokens", np.int64, (1, "tokens"))
    encoded = model.text_encoder(model.text_embedding(tokens))
    states = model.text_encoder_affine_layer(encoded)
    size = model.dimensions.decoder.inputs
    graph.output("states", states, np.float32, (1, "tokens", size))
    return graph


def embedding_graph(model: LanguageModel) -> Graph:
    """Build lm_embedding.onnx.

    Inputs:
        tokens: int64 (tokens)
        speakers: float32 (speakers, speaker size), of any length
    Outputs:
        token_embeddings: float32 (tokens, size)
        speaker_embeddings: float32 (speakers, size)
        marks: float32 (2, size), start and task
    """
    dimensions, graph = model.dimensions, Graph("lm_embedding")
    size = dimensions.decoder.inputs
    tokens = graph.input("tokens", np.int64, ("tokens",))
    speakers = graph.input("speakers", np.float32, ("speakers", dimensions.speaker))
    embedded = model.speech_embedding(tokens)
    mapped = model.spk_embed_affine_layer(unit_length(speakers))
    marks = model.llm_embedding(graph.indices(*range(_MARKS)))
    graph.output("token_embeddings", embedded, np.float32, ("tokens", size))
    graph.output("speaker_embeddings", mapped, np.float32, ("speakers", size))
    graph.output("marks", marks, np.float32, (_MARKS, size))
    return graph


def decoder_graph(model: LanguageModel, capacity: int) -> Graph:
    """Build lm.onnx.

    Several steps can be taken of one sequence, one step of several. The caches may be
    bound to the same memory as input and output; then they grow in place.

    Inputs:
        embeddings: float32 (batch, steps, size)
        lengths: int64 (batch), frames of each sequence in the cache
        keys_N, values_N: float32 (batch, heads, capacity, head size), of layer N
    Outputs:
        log_probabilities: float32 (batch, speech tokens + 1), of what follows the last
            step; the token beyond the vocabulary ends the speech
        new_keys_N, new_values_N: as keys_N, values_N

    Args:
        capacity: Frames of the longest sequence.
    """
    sizes, graph = model.dimensions.decoder, Graph("lm")
    x = graph.input("embeddings", np.float32, ("batch", "steps", sizes.inputs))
    lengths = graph.input("lengths", np.int64, ("batch",))
    shape = ("batch", sizes.heads, capacity, sizes.size // sizes.heads)
    caches = [
        Cache(
            graph.input(f"keys_{layer}", np.float32, shape),
            graph.input(f"values_{layer}", np.float32, shape),
        )
        for layer in range(sizes.layers)
    ]
    state, grown = model.llm(x, lengths, caches, capacity)
    scores = model.llm_decoder(state.squeeze(1))
    graph.output(
        "log_probabilities",
        graph.op("LogSoftmax", scores, attributes={"axis": -1}),
        np.float32,
        ("batch", model.dimensions.speech_vocabulary + 1),
    )
    for layer, cache in enumerate(grown):
        graph.output(f"new_keys_{layer}", cache.keys, np.float32, shape)
        graph.output(f"new_values_{layer}", cache.values, np.float32, shape)
    return graph
