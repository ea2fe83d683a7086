"""The tiny model and what the official code computed with it."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).parent / "reference" / "v1-tiny"
CHECKPOINTS = Path(__file__).parent / "checkpoints"


class Recording:
    """Arrays of one recorded call, by name."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._arrays = arrays

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    def get(self, name: str) -> NDArray[Any] | None:
        return self._arrays.get(name)


@cache
def recording(stage: str, call: str) -> Recording:
    with np.load(FOLDER / f"{stage}.npz") as file:
        return Recording(
            {
                key.removeprefix(f"{call}."): file[key]
                for key in file.files
                if key.startswith(f"{call}.")
            }
        )


def greatest_difference(left: NDArray[Any], right: NDArray[Any]) -> float:
    assert left.shape == right.shape
    return float(np.abs(left.astype(np.float64) - right).max())
