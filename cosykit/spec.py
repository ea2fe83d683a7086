"""The facts of each model that code needs before any file of it is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, get_args

from cosykit.types import Language

Precision = Literal["fp32", "fp16", "int8", "int4"]
VocoderPrecision = Literal["fp32", "fp16", "int8"]
Family = Literal["cosyvoice", "lite"]
Mode = Literal[
    "built_in_voice", "zero_shot", "cross_lingual", "instruct", "voice_conversion"
]
GraphName = Literal[
    "text_encoder",
    "lm_embedding",
    "lm_distances",
    "lm_move",
    "lm",
    "lm_int8_cache",
    "flow_encoder",
    "length_regulator",
    "estimator",
    "estimator_ragged",
    "pitch",
    "source",
    "vocoder",
]


QUANTIZED: tuple[Precision, ...] = ("int8", "int4")
"""The precisions whose products are of integers."""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What a model is.

    Attributes:
        id: Name in commands, configuration and requests; also its folder in models/.
        family: The engine that speaks it: an entry point of `cosykit.engines`.
        title: What it is, beside its id.
        sample_rate: Samples a second of its speech.
        languages: Languages it speaks.
        graphs: Graph files in the folder of each precision, where they are the same
            for all of them; see `graph_levels` for the other models.
        precisions: Quantization levels it can be installed at, the default first.
        modes: What can be asked of it.
    """

    id: str
    family: Family
    title: str
    sample_rate: int
    languages: tuple[Language, ...]
    graphs: tuple[str, ...]
    precisions: tuple[Precision, ...]
    modes: tuple[Mode, ...] = ("built_in_voice",)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What running a model takes to know of its graphs, as its manifest keeps it.

    Attributes:
        layers: Attention layers of the language model.
        heads: Attention heads of each of them.
        head_size: Channels of a head.
        positions: Frames of the longest sequence that the language model can hold.
        text_vocabulary: Text tokens.
        speech_vocabulary: Speech tokens; the end token follows them.
        speaker_size: Length of a speaker vector.
        mels: Channels of a mel.
        sample_rate: Samples a second.
        token_rate: Speech tokens a second.
        harmonics: Overtones of the vocoder's source.
        samples_per_frame: Samples that a frame of a mel becomes.
        modes: What can be asked of it.
    """

    layers: int
    heads: int
    head_size: int
    positions: int
    text_vocabulary: int
    speech_vocabulary: int
    speaker_size: int
    mels: int
    sample_rate: int
    token_rate: int
    harmonics: int
    samples_per_frame: int
    modes: tuple[Mode, ...]


def graph_levels(
    precision: Precision, vocoder_precision: VocoderPrecision
) -> Mapping[GraphName, Precision]:
    """Say at which level each graph of CosyVoice is, for a precision that is asked for.

    What costs next to nothing stays at fp32, and so is shared by all precisions. Only
    quantized models have a language model with a cache of int8.
    """
    is_quantized = precision in QUANTIZED
    rest: Precision = "int8" if is_quantized else precision
    levels: dict[GraphName, Precision] = {
        "text_encoder": rest,
        "lm_embedding": "fp32",
        "lm_distances": rest,
        "lm_move": rest,
        "lm": precision,
        "flow_encoder": rest,
        "length_regulator": "fp32",
        "estimator": rest,
        "estimator_ragged": rest,
        "pitch": "fp32",
        "source": "fp32",
        "vocoder": vocoder_precision,
    }
    if is_quantized:
        levels["lm_int8_cache"] = precision
    return MappingProxyType(levels)


@dataclass(frozen=True, slots=True)
class Level:
    """The precisions that a CosyVoice model is installed or run at.

    Attributes:
        precision: Of the language model and the flow.
        vocoder: Of the vocoder.
    """

    precision: Precision
    vocoder: VocoderPrecision

    @property
    def graphs(self) -> Mapping[GraphName, Precision]:
        """The precision of each graph."""
        return graph_levels(self.precision, self.vocoder)

    def __str__(self) -> str:
        return f"{self.precision} with the vocoder at {self.vocoder}"


LEVELS = tuple(
    Level(precision, vocoder)
    for precision in get_args(Precision)
    for vocoder in get_args(VocoderPrecision)
)
"""Every level that a CosyVoice model can be installed at."""

_CLONING: tuple[Mode, ...] = ("zero_shot", "cross_lingual", "voice_conversion")

LITE = ModelSpec(
    id="lite",
    family="lite",
    title="The embedded voice, Kokoro-82M v1.0",
    sample_rate=24_000,
    languages=("zh", "en", "ja"),
    graphs=("kokoro.onnx",),
    precisions=("int8",),
)

COSYVOICE_300M_SFT = ModelSpec(
    id="cosyvoice-300m-sft",
    family="cosyvoice",
    title="Seven built-in voices",
    sample_rate=22_050,
    languages=("zh", "en", "ja", "yue", "ko"),
    graphs=(),
    precisions=("int8", "int4", "fp16", "fp32"),
)

COSYVOICE_300M = replace(
    COSYVOICE_300M_SFT,
    id="cosyvoice-300m",
    title="Voices cloned from recordings",
    modes=_CLONING,
)

COSYVOICE_300M_INSTRUCT = replace(
    COSYVOICE_300M_SFT,
    id="cosyvoice-300m-instruct",
    title="Voices that follow instructions",
    modes=("built_in_voice", *_CLONING, "instruct"),
)

GRAPHS_VERSION = 4
"""What engines expect of the graphs of a bundle; older ones are converted anew."""

SPECS = MappingProxyType(
    {
        spec.id: spec
        for spec in (
            LITE,
            COSYVOICE_300M_SFT,
            COSYVOICE_300M,
            COSYVOICE_300M_INSTRUCT,
        )
    }
)


def hint_of_able(is_able: Callable[[ModelSpec], bool]) -> str:
    """Say which model of the catalogue does what another does not, and how to use it.

    Args:
        is_able: Tells a model that does; there must be one.
    """
    able = next(spec.id for spec in SPECS.values() if is_able(spec))
    return (
        f"{able} does: name it as the model; if it is not installed, run: "
        f"cosykit install {able}"
    )
