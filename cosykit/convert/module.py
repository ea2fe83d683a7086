"""Modules that hold a checkpoint's weights under its own names.

A module is declared with the shapes that its checkpoint must have, loaded strictly, and
then called with a graph to add its nodes. Attribute names mirror the checkpoint's keys:
`encoders[3].self_attn.linear_q.weight`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cosykit.errors import ModelLoadError, quoted

Weights = NDArray[np.float32]


class Parameter:
    """A weight of a module, known by its shape until it is loaded."""

    def __init__(self, *shape: int) -> None:
        self.shape = shape
        self.key = ""
        self._array: Weights | None = None

    @property
    def array(self) -> Weights:
        """The loaded weight."""
        if self._array is None:
            raise RuntimeError(f"{self.key or 'a parameter'} was not loaded")
        return self._array

    def load(self, key: str, array: NDArray[np.generic]) -> None:
        """Take the weight from a checkpoint."""
        self.key = key
        self._array = array.astype(np.float32, copy=False)


class Module:
    """A part of a model: parameters and modules in its public attributes."""

    def parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """Yield every parameter with its key, in the order of declaration."""
        for name, part in vars(self).items():
            key = f"{prefix}{name}"
            if name.startswith("_"):
                continue
            if isinstance(part, Parameter):
                yield key, part
            elif isinstance(part, Module):
                yield from part.parameters(f"{key}.")


Part = TypeVar("Part", bound=Module)


class ModuleList(Module, Sequence[Part]):
    """Modules whose keys are their numbers."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = tuple(parts)

    def parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """Yield every parameter with its key."""
        for number, part in enumerate(self._parts):
            yield from part.parameters(f"{prefix}{number}.")

    def __getitem__(self, number: int) -> Part:  # type: ignore[override]
        return self._parts[number]

    def __len__(self) -> int:
        return len(self._parts)


def load_weights(
    module: Module, checkpoint: Mapping[str, NDArray[np.generic]], name: str
) -> None:
    """Give every parameter its weight.

    Raises:
        ModelLoadError: Keys are missing, unexpected or wrongly shaped; all are listed.
    """
    parameters = dict(module.parameters())
    problems = [f"missing: {key}" for key in parameters if key not in checkpoint]
    unexpected = (key for key in checkpoint if key not in parameters)
    problems += [f"unexpected: {quoted(key)}" for key in unexpected]
    for key, parameter in parameters.items():
        array = checkpoint.get(key)
        if array is None:
            continue
        if array.shape != parameter.shape:
            problems.append(f"{key} is {array.shape}, not {parameter.shape}")
        else:
            parameter.load(key, array)
    if problems:
        raise ModelLoadError(
            f"{name} is not of the expected architecture: " + "; ".join(problems),
            hint="Convert only checkpoints of the model that the folder's yaml names",
        )
