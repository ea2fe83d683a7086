"""A GPU without one: memory that numpy cannot reach, and a runtime that knows it.

Like the runtime, it brings what lies in the processor's memory over when it is bound,
and not when the graph runs.
"""

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import DTypeLike, NDArray

from cosykit.runtime import blocks
from cosykit.runtime.binding import OrtBinding
from cosykit.runtime.blocks import Block, Place, block_of
from cosykit.runtime.session import Session

GPU = Place("cuda", 1)


@dataclass
class Bound:
    """What was bound, and where."""

    inputs: list[tuple[str, str]] = field(default_factory=list)
    outputs: list[tuple[str, str]] = field(default_factory=list)


class PretendedBinding:
    """The runtime's binding, for which all memory is the processor's."""

    def __init__(self, binding: OrtBinding, noted: Bound) -> None:
        self.real, self._noted = binding, noted
        self._brought: dict[str, NDArray[np.uint8]] = {}

    def bind_input(
        self,
        name: str,
        device_type: str,
        device_id: int,
        element_type: DTypeLike,
        shape: Sequence[int],
        buffer_ptr: int,
    ) -> None:
        self._noted.inputs.append((name, device_type))
        if Place(device_type, device_id) != GPU:
            size_bytes = math.prod(shape) * np.dtype(element_type).itemsize
            content = ctypes.string_at(buffer_ptr, size_bytes)
            self._brought[name] = np.frombuffer(content, np.uint8).copy()
            buffer_ptr = self._brought[name].ctypes.data
        self.real.bind_input(name, "cpu", 0, element_type, shape, buffer_ptr)

    def bind_output(
        self,
        name: str,
        device_type: str,
        device_id: int,
        element_type: DTypeLike,
        shape: Sequence[int],
        buffer_ptr: int,
    ) -> None:
        self._noted.outputs.append((name, device_type))
        self.real.bind_output(name, "cpu", 0, element_type, shape, buffer_ptr)


class PretendedGpu:
    """Lets sessions believe that they run on a GPU."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bound = Bound()
        monkeypatch.setattr(blocks, "_on_device", self._reserved)
        monkeypatch.setattr(Session, "place_of", lambda session, name: GPU)

    def session(self, session: Session) -> Session:
        """Have a session of the processor pretend."""
        real, noted = session._session, self.bound

        class Pretending:
            def io_binding(self) -> PretendedBinding:
                return PretendedBinding(real.io_binding(), noted)

            def run_with_iobinding(self, binding: PretendedBinding) -> None:
                real.run_with_iobinding(binding.real)

            def __getattr__(self, name: str) -> object:
                return getattr(real, name)

        pretending = Session.__new__(Session)
        pretending.__dict__.update(session.__dict__, _session=Pretending())
        return pretending

    def _reserved(
        self, place: Place, shape: Sequence[int], dtype: np.dtype[np.generic]
    ) -> Block:
        memory = block_of(np.full(shape, 77, dtype))
        return replace(memory, place=place, array=None)
