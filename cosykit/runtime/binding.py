"""Run a graph on memory of the caller, which may be input and output at once.

A cache that grows by a frame a step is so never copied, on a GPU neither, and what is
bound once need not be bound again for the next step.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cosykit.errors import OutOfMemoryError
from cosykit.runtime.blocks import Block, block_of
from cosykit.runtime.memory import is_shortage

Tensor = NDArray[np.generic]


class OrtBind(Protocol):
    """Makes memory an input or an output of a graph."""

    def __call__(
        self,
        name: str,
        device_type: str,
        device_id: int,
        element_type: DTypeLike,
        shape: Sequence[int],
        buffer_ptr: int,
    ) -> None:
        """Bind memory; what lies on another device than the graph is copied now."""


class OrtBinding(Protocol):
    """What is used of the runtime's binding."""

    bind_input: OrtBind
    bind_output: OrtBind


class BindableSession(Protocol):
    """What is used of the runtime's session."""

    def io_binding(self) -> OrtBinding:
        """Make a binding without memory."""

    def run_with_iobinding(self, binding: OrtBinding) -> None:
        """Run the graph on the memory that is bound."""


class BoundRun:
    """A graph and the memory that it reads and writes whenever it is called.

    Args:
        inputs: By the names of all inputs: blocks where the graph wants them, see
            `Session.place_of`, or contiguous arrays, whose content goes there anew
            with every run.
        outputs: The same by the names of all outputs; a block may be an input too.
    """

    def __init__(
        self,
        session: BindableSession,
        inputs: Mapping[str, Block | Tensor],
        outputs: Mapping[str, Block | Tensor],
    ) -> None:
        self._session, self._binding = session, session.io_binding()
        read, written = _blocks(inputs), _blocks(outputs)
        # The runtime knows only addresses.
        self._kept = (read, written)
        self._brought = {
            name: block
            for name, block in read.items()
            if not isinstance(inputs[name], Block)
        }
        for name, block in read.items():
            _bind(self._binding.bind_input, name, block)
        for name, block in written.items():
            _bind(self._binding.bind_output, name, block)

    def __call__(self) -> None:
        """Run the graph on what lies in the memory now.

        Raises:
            OutOfMemoryError: It needs more for itself than there is.
        """
        for name, block in self._brought.items():
            _bind(self._binding.bind_input, name, block)
        try:
            self._session.run_with_iobinding(self._binding)
        except Exception as error:
            if is_shortage(error):
                raise OutOfMemoryError from error
            raise


def _blocks(memory: Mapping[str, Block | Tensor]) -> Mapping[str, Block]:
    return {
        name: part if isinstance(part, Block) else block_of(part)
        for name, part in memory.items()
    }


def _bind(bind: OrtBind, name: str, block: Block) -> None:
    place = block.place
    bind(name, place.device, place.device_id, block.dtype, block.shape, block.address)
