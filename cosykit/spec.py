"""The facts of each model that code needs before any file of it is read."""

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from cosykit.types import Language

Precision = Literal["fp32", "fp16", "int8", "int4"]
Family = Literal["cosyvoice", "lite"]


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What a model is.

    Attributes:
        id: Name in commands, configuration and requests; also its folder in models/.
        family: The engine that speaks it: an entry point of `cosykit.engines`.
        title: Name to show to people.
        sample_rate: Samples a second of its speech.
        languages: Languages it speaks.
        graphs: Graph files in the folder of each precision.
        precisions: Quantization levels it can be installed at, the default first.
    """

    id: str
    family: Family
    title: str
    sample_rate: int
    languages: tuple[Language, ...]
    graphs: tuple[str, ...]
    precisions: tuple[Precision, ...]


LITE = ModelSpec(
    id="lite",
    family="lite",
    title="Kokoro-82M v1.0, the embedded voice",
    sample_rate=24_000,
    languages=("zh", "en", "ja"),
    graphs=("kokoro.onnx",),
    precisions=("int8",),
)

COSYVOICE_300M_SFT = ModelSpec(
    id="cosyvoice-300m-sft",
    family="cosyvoice",
    title="CosyVoice-300M-SFT, seven built-in voices",
    sample_rate=22_050,
    languages=("zh", "en", "ja", "yue", "ko"),
    graphs=(),
    precisions=("int8", "int4", "fp16", "fp32"),
)

COSYVOICE_300M = replace(
    COSYVOICE_300M_SFT,
    id="cosyvoice-300m",
    title="CosyVoice-300M, voices cloned from a recording",
)

COSYVOICE_300M_INSTRUCT = replace(
    COSYVOICE_300M_SFT,
    id="cosyvoice-300m-instruct",
    title="CosyVoice-300M-Instruct, voices that follow instructions",
)

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
