"""Choose the precision that suits a machine and say why."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from cosykit.errors import ModelLoadError
from cosykit.runtime.cores import cpu_features, int8_saturates
from cosykit.runtime.memory import usable_memory_bytes
from cosykit.runtime.providers import Provider
from cosykit.spec import LEVELS, Level, Precision, VocoderPrecision

# Best first. Half precision is slow on processors, which widen it for every product.
_ON_CPU: Sequence[Precision] = ("int8", "int4", "fp32", "fp16")
_WITH_LITTLE_MEMORY: Sequence[Precision] = ("int4", "int8", "fp16", "fp32")
_ON_GPU: Sequence[Precision] = ("fp16", "fp32", "int8", "int4")
_VOCODER: Sequence[VocoderPrecision] = ("fp32", "fp16", "int8")
# At int8 a running model takes 0.9 GB, and more with long recordings as prompts.
_LITTLE_MEMORY_BYTES = 1_600_000_000


@dataclass(frozen=True, slots=True)
class LevelChoice:
    """A level and the reason for it, to be shown to people."""

    level: Level
    reason: str


def choose_level(
    precision: Precision | Literal["auto"],
    vocoder: VocoderPrecision | Literal["auto"],
    provider: Provider,
    available: Collection[Level] = LEVELS,
    model: str = "MODEL",
) -> LevelChoice:
    """Take what is asked for, or the best that there is for a provider.

    Args:
        available: What can be had: everything for an install, what is installed for an
            engine.
        model: Its name, for messages.

    Raises:
        ModelLoadError: What is asked for is not available.
    """
    order, reason = _order(provider)
    fitting = [
        level
        for level in available
        if precision in ("auto", level.precision) and vocoder in ("auto", level.vocoder)
    ]
    if not fitting:
        raise _missing(precision, vocoder, model)
    best = min(
        fitting,
        key=lambda level: (order.index(level.precision), _VOCODER.index(level.vocoder)),
    )
    if precision != "auto":
        return LevelChoice(best, "asked for")
    if best.precision != order[0]:
        return LevelChoice(best, f"{order[0]} would be better, but is not installed")
    return LevelChoice(best, reason)


def _missing(precision: str, vocoder: str, model: str) -> ModelLoadError:
    """Say that what was asked for is not installed, and how to install it."""
    words, flags = [f"{model} is not installed"], [f"Run: cosykit install {model}"]
    if precision != "auto":
        words.append(f"at precision {precision}")
        flags.append(f"--precision {precision}")
    if vocoder != "auto":
        words.append(f"with the vocoder at {vocoder}")
        flags.append(f"--vocoder-precision {vocoder}")
    return ModelLoadError(" ".join(words), hint=" ".join(flags))


def _order(provider: Provider) -> tuple[Sequence[Precision], str]:
    """Say which precisions suit the machine best, and why the first does."""
    if provider != "cpu":
        return _ON_GPU, "half precision suits the GPU"
    memory_bytes = usable_memory_bytes()
    if memory_bytes < _LITTLE_MEMORY_BYTES:
        return _WITH_LITTLE_MEMORY, f"there are {memory_bytes / 1e9:.1f} GB of memory"
    if int8_saturates() or not cpu_features():
        return _ON_CPU, "8-bit weights are a quarter of what a step has to read"
    return _ON_CPU, f"the processor multiplies bytes fast ({', '.join(cpu_features())})"
