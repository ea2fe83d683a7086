"""The flow of the first generation: from speech tokens to a mel.

    flow_encoder.onnx      speech tokens, speaker vector -> states, speaker
    length_regulator.onnx  states stretched to mel frames -> the mean of the flow
    estimator.onnx         one step of the flow, see estimator.py

The stretching between the first two and the steps of the last need no weights; they are
in synthesis/flow/.

Source: cosyvoice/flow/flow.py MaskedDiffWithXvec,
cosyvoice/flow/length_regulator.py InterpolateRegulator
"""

import numpy as np

from cosykit.convert.dimensions import FlowDimensions
from cosykit.convert.graph import Graph
from cosykit.convert.layers.basic import (
    Embedding,
    Layer,
    Linear,
    Mish,
    Sequential,
    unit_length,
)
from cosykit.convert.layers.convolution import Convolution, GroupNorm
from cosykit.convert.layers.encoder import ConformerEncoder
from cosykit.convert.models.estimator import Estimator
from cosykit.convert.module import Module
from cosykit.spec import Precision


class _LengthRegulator(Module):
    def __init__(self, channels: int, layers: int) -> None:
        smoothing: list[Layer] = []
        for _ in range(layers):
            convolution = Convolution(channels, channels, 3)
            smoothing += [convolution, GroupNorm(1, channels), Mish()]
        self.model = Sequential(*smoothing, Convolution(channels, channels, 1))


class _Decoder(Module):
    def __init__(self, estimator: Estimator) -> None:
        self.estimator = estimator


class Flow(Module):
    """The weights of a `flow.pt`."""

    def __init__(self, dimensions: FlowDimensions) -> None:
        encoder, mels = dimensions.encoder, dimensions.mels
        self.input_embedding = Embedding(dimensions.speech_vocabulary, encoder.inputs)
        self.spk_embed_affine_layer = Linear(dimensions.speaker, mels, exact=True)
        self.encoder = ConformerEncoder(encoder)
        self.encoder_proj = Linear(encoder.size, mels)
        self.decoder = _Decoder(Estimator(dimensions.estimator))
        self.length_regulator = _LengthRegulator(mels, dimensions.regulator_layers)
        self.dimensions = dimensions


def encoder_graph(flow: Flow, precision: Precision = "fp32") -> Graph:
    """Build flow_encoder.onnx.

    Inputs:
        tokens: int64 (1, tokens), those of the prompt first
        speaker_vector: float32 (1, speaker size), of any length
    Outputs:
        states: float32 (1, mels, tokens)
        speaker: float32 (1, mels)
    """
    dimensions, graph = flow.dimensions, Graph("flow_encoder", precision)
    tokens = graph.input("tokens", np.int64, (1, "tokens"))
    vector = graph.input("speaker_vector", np.float32, (1, dimensions.speaker))
    encoded = flow.encoder_proj(flow.encoder(flow.input_embedding(tokens)))
    states = encoded.transpose(0, 2, 1).widened()
    speaker = flow.spk_embed_affine_layer(unit_length(vector)).widened()
    graph.output("states", states, np.float32, (1, dimensions.mels, "tokens"))
    graph.output("speaker", speaker, np.float32, (1, dimensions.mels))
    return graph


def length_regulator_graph(flow: Flow, precision: Precision = "fp32") -> Graph:
    """Build length_regulator.onnx.

    Inputs:
        stretched: float32 (1, mels, frames), prompt and new part
    Outputs:
        mu: float32 (1, mels, frames)
    """
    graph = Graph("length_regulator", precision)
    shape = (1, flow.dimensions.mels, "frames")
    stretched = graph.input("stretched", np.float32, shape)
    mu = flow.length_regulator.model(stretched.lowered()).widened()
    graph.output("mu", mu, np.float32, shape)
    return graph
