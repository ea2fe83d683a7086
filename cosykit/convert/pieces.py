"""The pieces that a bundle of CosyVoice-300M consists of, and what each is made of."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from cosykit.convert.dimensions import read_dimensions
from cosykit.spec import GraphName, Level, Mode, ModelFacts, Precision

DESCRIPTION = "cosyvoice.yaml"
POSITIONS = 2048
"""Frames of the longest sequence of the language model.

Upstream allows 5000, and each takes 115 kB of a slot of the cache (29 kB where that is
of int8); the longest prompt (30 s) and 10 s of speech fit into fewer.
"""


@dataclass(frozen=True, slots=True)
class Piece:
    """Files of a bundle that are made at once.

    Attributes:
        source: The released file that they are made of.
        paths: Where they lie in the bundle; a folder ends with a slash.
        share: How much of the work on the source they are, for the progress.
        graphs: The graphs that they are, if they are some; these share their weights.
        precision: Of the graphs.
    """

    source: str
    paths: tuple[str, ...]
    share: float = 1.0
    graphs: tuple[GraphName, ...] = ()
    precision: Precision = "fp32"


# Each row is a piece: its released file, its graphs, and its share of the work.
_GRAPHS: tuple[tuple[str, tuple[GraphName, ...], float], ...] = (
    ("llm.pt", ("text_encoder",), 0.35),
    ("llm.pt", ("lm_embedding",), 0.02),
    ("llm.pt", ("lm_distances", "lm_move"), 0.05),
    ("llm.pt", ("lm", "lm_int8_cache"), 0.63),
    ("flow.pt", ("flow_encoder",), 0.2),
    ("flow.pt", ("length_regulator",), 0.01),
    ("flow.pt", ("estimator", "estimator_ragged"), 0.79),
    ("hift.pt", ("pitch",), 0.2),
    ("hift.pt", ("source",), 0.01),
    ("hift.pt", ("vocoder",), 0.79),
)

# What a byte of a released file becomes, measured at full size and rounded up.
_RATIOS: Mapping[Precision, float] = MappingProxyType(
    {"fp32": 1.1, "fp16": 0.55, "int8": 0.35, "int4": 0.2}
)
# What is written and deleted again while the scales of a cache are found.
_CALIBRATION_RATIO = 0.3

# What is made of files that not every model has.
_OTHERS = (
    Piece(DESCRIPTION, (DESCRIPTION,)),
    Piece("spk2info.pt", ("voices/",)),
    Piece("campplus.onnx", ("frontend/campplus.onnx",)),
    Piece("speech_tokenizer_v1.onnx", ("frontend/speech_tokenizer.onnx",)),
)


def pieces_of(level: Level, released: Collection[str]) -> tuple[Piece, ...]:
    """List what a model consists of at a level.

    Args:
        released: The files of its release.
    """
    graphs = (_piece(level, *row) for row in _GRAPHS)
    return (*(piece for piece in _OTHERS if piece.source in released), *graphs)


def _piece(
    level: Level, source: str, names: Sequence[GraphName], share: float
) -> Piece:
    names = tuple(name for name in names if name in level.graphs)
    precision = level.graphs[names[0]]
    return Piece(source, _paths(names, precision), share, names, precision)


def space_ratio(pieces: Iterable[Piece]) -> float:
    """Give the disk space that it takes to make pieces, and to have them.

    Returns:
        A multiple of their released files.
    """
    by_source: dict[str, float] = {}
    for piece in pieces:
        taken = piece.share * _RATIOS[piece.precision]
        if "lm_int8_cache" in piece.graphs:
            taken += _CALIBRATION_RATIO
        by_source[piece.source] = by_source.get(piece.source, 0.0) + taken
    return max(by_source.values(), default=0.0)


def _paths(names: Iterable[GraphName], precision: Precision) -> tuple[str, ...]:
    graphs = tuple(f"{precision}/{name}.onnx" for name in names)
    return (*graphs, f"{graphs[0]}.data")


def facts_of(
    description: Path, modes: Collection[Mode], released: Collection[str]
) -> ModelFacts:
    """Gather what an engine takes to know.

    Args:
        description: The model's `cosyvoice.yaml`.
        modes: What the model was made for.
        released: The files of its release; modes that need others are left out.

    Raises:
        ModelLoadError: The description is broken or of another architecture.
    """
    sizes = read_dimensions(description)
    decoder = sizes.lm.decoder
    return ModelFacts(
        layers=decoder.layers,
        heads=decoder.heads,
        head_size=decoder.size // decoder.heads,
        positions=POSITIONS,
        text_vocabulary=sizes.lm.text_vocabulary,
        speech_vocabulary=sizes.lm.speech_vocabulary,
        speaker_size=sizes.lm.speaker,
        mels=sizes.flow.mels,
        sample_rate=sizes.vocoder.sample_rate,
        token_rate=sizes.flow.token_rate,
        harmonics=sizes.vocoder.harmonics,
        samples_per_frame=sizes.vocoder.samples_per_frame,
        modes=tuple(mode for mode in modes if _needed(mode) <= set(released)),
    )


def _needed(mode: Mode) -> set[str]:
    if mode in ("built_in_voice", "instruct"):
        return {"spk2info.pt"}
    return {"campplus.onnx", "speech_tokenizer_v1.onnx"}
