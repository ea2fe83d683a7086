"""Fold weight norm, which training keeps as a direction and a length, into weights.

    weight = g v / |v|, the length taken over all axes but the first

PyTorch spells the pair `X.weight_g`, `X.weight_v` before 2.1, and
`X.parametrizations.weight.original0`, `.original1` since.

Source: torch/nn/utils/parametrizations.py weight_norm
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from cosykit.errors import ModelLoadError

Tensor = NDArray[np.generic]

# How a key ends that holds the length, and how its direction's key ends instead.
_SPELLINGS = (
    ("weight_g", "weight_v"),
    ("parametrizations.weight.original0", "parametrizations.weight.original1"),
)


def fold_weight_norm(checkpoint: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """Replace each pair by its weight, under the key `X.weight`; keep the rest.

    Raises:
        ModelLoadError: One half of a pair is missing, or does not fit the other.
    """
    folded: dict[str, Tensor] = {}
    for key, tensor in checkpoint.items():
        for length_end, direction_end in _SPELLINGS:
            if key.endswith(f".{length_end}"):
                owner = key.removesuffix(length_end)
                direction = _half(checkpoint, f"{owner}{direction_end}", key)
                _check_length(tensor, direction, key)
                folded[f"{owner}weight"] = _scaled(direction, tensor)
                break
            if key.endswith(f".{direction_end}"):
                _half(checkpoint, key.removesuffix(direction_end) + length_end, key)
                break
        else:
            folded[key] = tensor
    return MappingProxyType(folded)


def _half(checkpoint: Mapping[str, Tensor], key: str, other: str) -> Tensor:
    if key not in checkpoint:
        raise ModelLoadError(
            f"the checkpoint has {other} but not {key}",
            hint="Take the file from its source again",
        )
    return checkpoint[key]


def _check_length(length: Tensor, direction: Tensor, key: str) -> None:
    expected = (*direction.shape[:1], *(1 for _ in direction.shape[1:]))
    if length.shape != expected:
        raise ModelLoadError(
            f"{key} is {length.shape}, not {expected}",
            hint="Take the file from its source again",
        )


def _scaled(direction: Tensor, length: Tensor) -> NDArray[np.float32]:
    v, g = direction.astype(np.float64), length.astype(np.float64)
    norm = np.sqrt((v * v).sum(axis=tuple(range(1, v.ndim)), keepdims=True))
    return np.asarray(v * (g / norm), np.float32)
