"""Run a graph on memory of the caller, which may be input and output at once.

A cache that grows by a frame a step is so never copied.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

Tensor = NDArray[np.generic]


class OrtBinding(Protocol):
    """What is used of the runtime's binding."""

    def bind_input(
        self,
        name: str,
        device_type: str,
        device_id: int,
        element_type: DTypeLike,
        shape: Sequence[int],
        buffer_ptr: int,
    ) -> None:
        """Read an input from memory."""

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: DTypeLike | None = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Write an output to memory, or to new memory."""

    def copy_outputs_to_cpu(self) -> list[Tensor]:
        """Give all outputs in the order in which they were bound."""


def bind(
    binding: OrtBinding,
    feeds: Mapping[str, Tensor],
    outputs: Sequence[str],
    in_place: Mapping[str, Tensor],
) -> None:
    """Bind memory; the arrays must be contiguous and outlive the run.

    Args:
        outputs: Outputs to allocate; they are bound first.
        in_place: Memory by the name of the output to be written there.
    """
    for name, array in feeds.items():
        place = _place_of(array)
        binding.bind_input(name, "cpu", 0, array.dtype, array.shape, place)
    for name in outputs:
        binding.bind_output(name)
    for name, array in in_place.items():
        place = _place_of(array)
        binding.bind_output(name, "cpu", 0, array.dtype, array.shape, place)


def _place_of(array: Tensor) -> int:
    if not array.flags.c_contiguous:
        raise ValueError("only contiguous memory can be bound")
    return int(array.ctypes.data)
