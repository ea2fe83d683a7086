"""Memory that graphs are bound to, on the processor or on a GPU."""

import math
import mmap
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cosykit.errors import ModelLoadError, TooLittleMemoryError
from cosykit.runtime.wheel import import_runtime

Tensor = NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class Place:
    """Where memory lies.

    Attributes:
        device: As the runtime calls it: `cpu`, `cuda`.
        device_id: Which GPU, counted from 0.
    """

    device: str = "cpu"
    device_id: int = 0


HOST = Place()


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A contiguous tensor somewhere.

    Attributes:
        array: The same memory for numpy; None where numpy cannot reach.
    """

    place: Place
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    address: int
    array: Tensor | None
    _owner: object = field(repr=False)

    def part(self, first: int, count: int) -> "Block":
        """Take some of what the first axis counts."""
        return self._from(first, (count, *self.shape[1:]), slice(first, first + count))

    def at(self, index: int) -> "Block":
        """Take one of what the first axis counts, without that axis."""
        return self._from(index, self.shape[1:], index)

    def _from(self, first: int, shape: tuple[int, ...], key: int | slice) -> "Block":
        skipped = first * math.prod(self.shape[1:]) * self.dtype.itemsize
        array = None if self.array is None else self.array[key]
        address = self.address + skipped
        return Block(self.place, self.dtype, shape, address, array, self._owner)


def block_of(array: Tensor) -> Block:
    """Take the memory of an array, which must be contiguous."""
    if not array.flags.c_contiguous:
        raise ValueError("only contiguous memory can be bound")
    address = int(array.ctypes.data)
    return Block(HOST, array.dtype, array.shape, address, array, array)


def reserve(
    place: Place,
    shape: Sequence[int],
    dtype: np.dtype[np.generic],
    *,
    sparse: bool = False,
) -> Block:
    """Reserve memory, whose content is undefined.

    Args:
        sparse: Whether much of it may never be used: then it is taken from the
            processor's memory only as far as it is. A GPU's is taken at once.

    Raises:
        ModelLoadError: There is too little.
    """
    if place != HOST:
        return _on_device(place, shape, dtype)
    return block_of(_sparse(shape, dtype) if sparse else np.empty(shape, dtype))


def _sparse(shape: Sequence[int], dtype: np.dtype[np.generic]) -> Tensor:
    size_bytes = math.prod(shape) * dtype.itemsize
    try:
        memory = mmap.mmap(-1, size_bytes)
    except OSError as error:
        raise TooLittleMemoryError(f"another {size_bytes / 1e6:.0f} MB") from error
    # In huge pages, which numpy asks for, 300 frames of a slot of the full model's
    # cache took 176 MB instead of 34.
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, dtype).reshape(shape)


def _on_device(
    place: Place, shape: Sequence[int], dtype: np.dtype[np.generic]
) -> Block:
    try:
        value = import_runtime().OrtValue.ortvalue_from_shape_and_type(
            list(shape), dtype.type, place.device, place.device_id
        )
    except Exception as error:
        # As with sessions, the runtime raises unrelated types.
        size_mb = math.prod(shape) * dtype.itemsize / 1e6
        raise ModelLoadError(
            f"{size_mb:.0f} MB do not fit into the memory of the GPU: {error}",
            hint="Set engine.batch_size to less, or runtime.provider to cpu",
        ) from error
    return Block(place, dtype, tuple(shape), value.data_ptr(), None, value)
