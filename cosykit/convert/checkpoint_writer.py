"""Write PyTorch checkpoints without PyTorch, a tensor at a time.

    <name>.pt, a zip archive   data.pkl: which tensors there are, and where
                               data/0, data/1, ...: the numbers of each
                               byteorder, version

The pickle is put together from its instructions, so that nothing of PyTorch has to be
imported for their names.

Source: torch/serialization.py, torch/_utils.py
"""

import pickle
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

# Where PyTorch starts the numbers of a tensor, so that they can be mapped.
_ALIGNMENT = 64
_LOCAL_HEADER_BYTES = 30
_PADDING_ID = b"FB"


@dataclass(frozen=True, slots=True)
class TensorToWrite:
    """A float32 tensor that is made when its turn comes."""

    shape: tuple[int, ...]
    make: Callable[[], NDArray[np.float32]]


State = Mapping[str, "TensorToWrite | State"]


def write_checkpoint(path: Path, state: State) -> None:
    """Write a state dict, or a dictionary of them.

    Raises:
        OSError: The file cannot be written.
    """
    tensors = list(_tensors_in(state))
    numbers = {id(tensor): number for number, tensor in enumerate(tensors)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        _write(archive, f"{path.stem}/data.pkl", _pickled(state, numbers))
        _write(archive, f"{path.stem}/byteorder", b"little")
        for number, tensor in enumerate(tensors):
            content = np.ascontiguousarray(tensor.make(), "<f4")
            assert content.shape == tensor.shape
            _write(archive, f"{path.stem}/data/{number}", content.data.cast("B"))
        _write(archive, f"{path.stem}/version", b"3\n")


def _tensors_in(state: State) -> Iterator[TensorToWrite]:
    for value in state.values():
        if isinstance(value, TensorToWrite):
            yield value
        else:
            yield from _tensors_in(value)


def _write(archive: zipfile.ZipFile, name: str, content: bytes | memoryview) -> None:
    assert archive.fp is not None
    entry = zipfile.ZipInfo(name)
    entry.file_size = len(content)
    start = archive.fp.tell() + _LOCAL_HEADER_BYTES + len(name) + 4
    padding = -start % _ALIGNMENT
    entry.extra = struct.pack("<2sH", _PADDING_ID, padding) + b"Z" * padding
    with archive.open(entry, "w") as file:
        file.write(content)


def _pickled(state: State, numbers: Mapping[int, int]) -> bytes:
    return pickle.PROTO + b"\x02" + _dictionary(state, numbers) + pickle.STOP


def _dictionary(state: State, numbers: Mapping[int, int]) -> bytes:
    items = b"".join(
        _text(key)
        + (
            _tensor(value, numbers[id(value)])
            if isinstance(value, TensorToWrite)
            else _dictionary(value, numbers)
        )
        for key, value in state.items()
    )
    return pickle.EMPTY_DICT + pickle.MARK + items + pickle.SETITEMS


def _tensor(tensor: TensorToWrite, number: int) -> bytes:
    """Ask for `_rebuild_tensor_v2`, as a saved tensor does."""
    shape = tensor.shape
    strides = tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))
    storage = _tuple(
        _text("storage"),
        _name("torch", "FloatStorage"),
        _text(str(number)),
        _text("cpu"),
        _integer(prod(shape)),
    )
    hooks = _name("collections", "OrderedDict") + pickle.EMPTY_TUPLE + pickle.REDUCE
    arguments = _tuple(
        storage + pickle.BINPERSID,
        _integer(0),
        _tuple(*map(_integer, shape)),
        _tuple(*map(_integer, strides)),
        pickle.NEWFALSE,
        hooks,
    )
    return _name("torch._utils", "_rebuild_tensor_v2") + arguments + pickle.REDUCE


def _tuple(*parts: bytes) -> bytes:
    return pickle.MARK + b"".join(parts) + pickle.TUPLE


def _name(module: str, name: str) -> bytes:
    return pickle.GLOBAL + f"{module}\n{name}\n".encode()


def _text(text: str) -> bytes:
    encoded = text.encode()
    return pickle.BINUNICODE + struct.pack("<I", len(encoded)) + encoded


def _integer(number: int) -> bytes:
    return pickle.BININT + struct.pack("<i", number)
