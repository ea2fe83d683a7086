"""Write a CosyVoice-300M of random weights in the layout of a release.

It takes the memory and the time of the real one, and speaks noise: for measurements
and tests that must not download anything. The weights keep activations in the range
that they have in trained models. Two biases are chosen: the pitch is about 150 Hz, so
that frames are voiced, and the end of the speech is likely as soon as it is allowed.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cosykit.convert.checkpoint_writer import TensorToWrite, write_checkpoint
from cosykit.convert.dimensions import Dimensions, read_dimensions
from cosykit.convert.graph import Graph
from cosykit.convert.models.flow import Flow
from cosykit.convert.models.language_model import LanguageModel
from cosykit.convert.models.vocoder import Vocoder
from cosykit.convert.module import Module

Size = Literal["tiny", "full"]
Shape = tuple[int, ...]

_VOICES = ("中文女", "中文男", "日语男", "粤语女", "英文女", "英文男", "韩语女")
_CHOSEN_BIASES: Mapping[str, float] = MappingProxyType(
    {"f0_predictor.classifier.bias": 150.0, "llm_decoder.bias": 3.0}
)
_TOKENIZER_MELS = 128
_FBANKS = 80


def write_release(
    folder: Path, size: Size, *, seed: int = 0, voices: bool = True, clones: bool = True
) -> None:
    """Write the files of a release; the same seed gives the same bytes.

    Args:
        size: `full` has the dimensions of the real model, `tiny` converts in a second.
        voices: Whether it has the seven built-in voices.
        clones: Whether it has (stand-ins of) the networks that measure recordings.

    Raises:
        OSError: A file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sizes = write_description(folder / "cosyvoice.yaml", size)
    for number, (name, shapes) in enumerate(checkpoint_shapes(sizes).items()):
        random = np.random.default_rng([seed, number])
        tensors = {
            key: TensorToWrite(shape, partial(_weights, random, key, shapes))
            for key, shape in shapes.items()
        }
        write_checkpoint(folder / name, tensors)
    if voices:
        _write_voices(folder / "spk2info.pt", sizes.lm.speaker, seed)
    if clones:
        _write_alone(_speaker_network(sizes), folder / "campplus.onnx")
        _write_alone(_tokenizer(sizes), folder / "speech_tokenizer_v1.onnx")


def write_description(path: Path, size: Size) -> Dimensions:
    """Write the yaml of a release, and read what a converter finds in it."""
    path.write_text(_DESCRIPTION.format_map(_SIZES[size]), encoding="utf-8")
    return read_dimensions(path)


def checkpoint_shapes(sizes: Dimensions) -> Mapping[str, Mapping[str, Shape]]:
    """Give the shape of every tensor of each checkpoint, by its key."""
    modules: Mapping[str, Module] = {
        "llm.pt": LanguageModel(sizes.lm),
        "flow.pt": Flow(sizes.flow),
        "hift.pt": Vocoder(sizes.vocoder),
    }
    return {name: dict(_released(name, module)) for name, module in modules.items()}


def _released(name: str, module: Module) -> Iterator[tuple[str, Shape]]:
    for key, parameter in module.parameters():
        shape = parameter.shape
        is_convolution = len(shape) == 3 and name == "hift.pt"
        if is_convolution and not key.startswith("source_downs."):
            owner = key.removesuffix(".weight")
            pair = f"{owner}.parametrizations.weight.original"
            yield f"{pair}0", (shape[0], 1, 1)
            yield f"{pair}1", shape
        else:
            yield key, shape


def _weights(
    random: np.random.Generator, key: str, shapes: Mapping[str, Shape]
) -> NDArray[np.float32]:
    """Draw a tensor: evenly between -1 and 1 over the root of the inputs."""
    shape = shapes[key]
    if key.endswith("original0"):
        # The length of rows that are drawn as below.
        return np.full(shape, 3**-0.5, np.float32)
    if len(shape) == 1 and not key.endswith("bias"):
        return np.ones(shape, np.float32)
    inputs = _inputs(key, shapes)
    values = random.random(shape, np.float32)
    values *= np.float32(2 * inputs**-0.5)
    values -= np.float32(inputs**-0.5)
    if len(shape) == 1 and shapes.get(f"{key.removesuffix('bias')}weight") == shape:
        values[:] = 0  # of a normalisation
    if key in _CHOSEN_BIASES:
        values[-1] = _CHOSEN_BIASES[key]
    return values


def _inputs(key: str, shapes: Mapping[str, Shape]) -> int:
    """Count what is summed up for one output."""
    shape = shapes[key]
    if len(shape) > 1:
        return int(np.prod(shape[1:]))
    owner = key.removesuffix("bias")
    for name in ("weight", "parametrizations.weight.original1"):
        if owner + name in shapes:
            return int(np.prod(shapes[owner + name][1:]))
    return shape[0]


def _write_voices(path: Path, speaker_size: int, seed: int) -> None:
    random = np.random.default_rng([seed, len(_VOICES)])

    def speaker() -> NDArray[np.float32]:
        return random.standard_normal((1, speaker_size), np.float32)

    write_checkpoint(
        path,
        {
            name: {"embedding": TensorToWrite((1, speaker_size), speaker)}
            for name in _VOICES
        },
    )


def _speaker_network(sizes: Dimensions) -> Graph:
    """Stand in for campplus.onnx: filter banks (1, frames, 80) to a speaker vector."""
    graph = Graph("campplus")
    banks = graph.input("input", np.float32, (1, "frames", _FBANKS))
    axes = graph.indices(1)
    kinds = ("ReduceMean", "ReduceMax", "ReduceMin")
    parts = (graph.op(kind, banks, axes, attributes={"keepdims": 0}) for kind in kinds)
    joined = graph.concat(1, *parts).slice(1, 0, sizes.lm.speaker)
    graph.output("output", joined, np.float32, (1, sizes.lm.speaker))
    return graph


def _tokenizer(sizes: Dimensions) -> Graph:
    """Stand in for speech_tokenizer_v1.onnx: mels (1, 128, frames) to half as many ids.

    A bit of an id tells whether a band is louder than the next.
    """
    graph = Graph("speech_tokenizer")
    mels = graph.input("feats", np.float32, (1, _TOKENIZER_MELS, "frames"))
    length = graph.input("feats_length", np.int32, (1,)).cast(np.int64)
    pairs = graph.op("Div", length, graph.indices(2))
    even = mels.slice(2, 0, graph.op("Mul", pairs, graph.indices(2)))
    halves = graph.op(
        "AveragePool", even, attributes={"kernel_shape": (2,), "strides": (2,)}
    )
    bits = sizes.lm.speech_vocabulary.bit_length() - 1
    louder = graph.op("Greater", halves.slice(1, 0, bits), halves.slice(1, 1, bits + 1))
    worth = graph.constant(2 ** np.arange(bits, dtype=np.int64)[:, None])
    digits = graph.op("Mul", louder.cast(np.int64), worth)
    ids = graph.op("ReduceSum", digits, graph.indices(1), attributes={"keepdims": 0})
    graph.output("indices", ids.cast(np.int32), np.int32, (1, "tokens"))
    return graph


def _write_alone(graph: Graph, path: Path) -> None:
    """Write a graph without large weights as the one file that a release has."""
    graph.save(path)
    path.with_name(f"{path.name}.data").unlink()


# The dimensions that the two sizes do not share.
_SIZES: Mapping[Size, Mapping[str, object]] = MappingProxyType(
    {
        "full": {
            **{"text_vocabulary": 51_866, "speech_vocabulary": 4096},
            **{"text_inputs": 512, "lm_size": 1024, "lm_heads": 16, "lm_hidden": 4096},
            **{"text_blocks": 6, "lm_blocks": 14},
            **{"flow_size": 512, "flow_heads": 8, "flow_hidden": 2048},
            **{"flow_blocks": 6, "channels": [256, 256], "blocks": 4, "middle": 12},
            **{"heads": 8, "head_size": 64, "vocoder_channels": 512},
        },
        "tiny": {
            **{"text_vocabulary": 51_866, "speech_vocabulary": 512},
            **{"text_inputs": 48, "lm_size": 64, "lm_heads": 4, "lm_hidden": 128},
            **{"text_blocks": 2, "lm_blocks": 3},
            **{"flow_size": 64, "flow_heads": 4, "flow_hidden": 128},
            **{"flow_blocks": 2, "channels": [40, 40], "blocks": 1, "middle": 2},
            **{"heads": 2, "head_size": 32, "vocoder_channels": 64},
        },
    }
)

# What a converter needs of a released file, in its words.
_DESCRIPTION = """\
sample_rate: 22050
spk_embed_dim: 192

llm: !new:cosyvoice.llm.llm.TransformerLM
  text_token_size: {text_vocabulary}
  speech_token_size: {speech_vocabulary}
  spk_embed_dim: !ref <spk_embed_dim>
  text_encoder: !new:cosyvoice.transformer.encoder.ConformerEncoder
    input_size: {text_inputs}
    output_size: {lm_size}
    attention_heads: {lm_heads}
    linear_units: {lm_hidden}
    num_blocks: {text_blocks}
  llm: !new:cosyvoice.transformer.encoder.TransformerEncoder
    input_size: {lm_size}
    output_size: {lm_size}
    attention_heads: {lm_heads}
    linear_units: {lm_hidden}
    num_blocks: {lm_blocks}

flow: !new:cosyvoice.flow.flow.MaskedDiffWithXvec
  output_size: 80
  spk_embed_dim: !ref <spk_embed_dim>
  vocab_size: {speech_vocabulary}
  input_frame_rate: 50
  encoder: !new:cosyvoice.transformer.encoder.ConformerEncoder
    input_size: {flow_size}
    output_size: {flow_size}
    attention_heads: {flow_heads}
    linear_units: {flow_hidden}
    num_blocks: {flow_blocks}
  length_regulator: !new:cosyvoice.flow.length_regulator.InterpolateRegulator
    channels: 80
    sampling_ratios: [1, 1, 1, 1]
  decoder: !new:cosyvoice.flow.flow_matching.ConditionalCFM
    estimator: !new:cosyvoice.flow.decoder.ConditionalDecoder
      in_channels: 320
      out_channels: 80
      channels: {channels}
      attention_head_dim: {head_size}
      n_blocks: {blocks}
      num_mid_blocks: {middle}
      num_heads: {heads}

hift: !new:cosyvoice.hifigan.generator.HiFTGenerator
  in_channels: 80
  base_channels: {vocoder_channels}
  nb_harmonics: 8
  sampling_rate: !ref <sample_rate>
  nsf_alpha: 0.1
  nsf_sigma: 0.003
  nsf_voiced_threshold: 10
  upsample_rates: [8, 8]
  upsample_kernel_sizes: [16, 16]
  istft_params:
    n_fft: 16
    hop_len: 4
  resblock_kernel_sizes: [3, 7, 11]
  resblock_dilation_sizes: [[1, 3, 5], [1, 3, 5], [1, 3, 5]]
  source_resblock_kernel_sizes: [7, 11]
  source_resblock_dilation_sizes: [[1, 3, 5], [1, 3, 5]]
  lrelu_slope: 0.1
  audio_limit: 0.99
  f0_predictor: !new:cosyvoice.hifigan.f0_predictor.ConvRNNF0Predictor
    num_class: 1
    in_channels: 80
    cond_channels: {vocoder_channels}
"""
