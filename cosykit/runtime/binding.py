"""Run a graph on memory of the caller, which may be input and output at once.

A cache that grows by a frame a step is so never copied, and what is bound once need not
be bound again for the next step.
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
        device_type: str,
        device_id: int,
        element_type: DTypeLike,
        shape: Sequence[int],
        buffer_ptr: int,
    ) -> None:
        """Write an output to memory."""


class BindableSession(Protocol):
    """What is used of the runtime's session."""

    def io_binding(self) -> OrtBinding:
        """Make a binding without memory."""

    def run_with_iobinding(self, binding: OrtBinding) -> None:
        """Run the graph on the memory that is bound."""


class BoundRun:
    """A graph and the memory that it reads and writes whenever it is called.

    Args:
        inputs: Contiguous arrays by the names of all inputs.
        outputs: Contiguous arrays by the names of all outputs; some may be inputs too.
    """

    def __init__(
        self,
        session: BindableSession,
        inputs: Mapping[str, Tensor],
        outputs: Mapping[str, Tensor],
    ) -> None:
        self._session, self._binding = session, session.io_binding()
        # The runtime knows only addresses.
        self._kept = (*inputs.values(), *outputs.values())
        for name, array in inputs.items():
            place = _place_of(array)
            self._binding.bind_input(name, "cpu", 0, array.dtype, array.shape, place)
        for name, array in outputs.items():
            place = _place_of(array)
            self._binding.bind_output(name, "cpu", 0, array.dtype, array.shape, place)

    def __call__(self) -> None:
        """Run the graph on what lies in the memory now."""
        self._session.run_with_iobinding(self._binding)


def _place_of(array: Tensor) -> int:
    if not array.flags.c_contiguous:
        raise ValueError("only contiguous memory can be bound")
    return int(array.ctypes.data)
