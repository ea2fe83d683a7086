"""Read PyTorch checkpoints without PyTorch and without trusting them.

A `.pt` file is a pickle that names tensors, and the tensors' bytes beside it: in a zip
archive since PyTorch 1.6, one after the other before that. The pickle is read by
`state_pickle.py`; the tensors are mapped from the file, not copied.

Source: torch/serialization.py
"""

import io
import mmap
import pickle
import struct
import zipfile
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from cosykit.convert.state_pickle import StateUnpickler, TensorView, UnsafePickleError
from cosykit.errors import ModelLoadError, quoted

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Tensor = NDArray[np.generic]
Key = TypeVar("Key")

_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_ZIP_MAGIC = b"PK\x03\x04"
_ENCRYPTED = 1  # among the flags of a zip entry
_FOREIGN_ORDER = "its byte order is not that of this machine"
# Training writes these beside the tensors.
_COUNTERS = ("epoch", "step")
# Some errors quote all of what they could not read.
_LONGEST_REASON = 200


def read_checkpoint(path: Path) -> Mapping[str, Tensor]:
    """Read the state dict of a checkpoint.

    Returns:
        Arrays by key in the file's order, mapped read-only from the file; bfloat16 is
        widened to float32. Counters that training adds are left out.

    Raises:
        ModelLoadError: The file is broken, cut off, or asks for code to be run.
    """
    return _read(path, _tensors_of)


def read_tables(path: Path) -> Mapping[str, Mapping[str, Tensor]]:
    """Read a file that holds a state dict by name, such as `spk2info.pt`.

    Returns:
        The tensors, as of `read_checkpoint`; what is no tensor is left out.

    Raises:
        ModelLoadError: The file is broken, cut off, or asks for code to be run.
    """
    tables: dict[str, dict[str, Tensor]] = {}
    for (name, key), tensor in _read(path, _tensors_by_name).items():
        tables.setdefault(name, {})[key] = tensor
    return tables


def _read(
    path: Path, pick: Callable[[object], Mapping[Key, TensorView]]
) -> Mapping[Key, Tensor]:
    """Unpickle a file and map the tensors that are picked from it."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise _unreadable(path, str(error)) from error
    try:
        if mapped[:4] == _ZIP_MAGIC:
            state, places = _read_zip(mapped)
        else:
            state, places = _read_legacy(mapped)
        return MappingProxyType(
            {
                key: _map_tensor(mapped, places, view)
                for key, view in pick(state).items()
            }
        )
    except ModelLoadError:
        raise
    except UnsafePickleError as error:
        raise ModelLoadError(
            f"{path.name} is refused: it asks for {error}, which no state dict needs",
            hint="Do not load this file anywhere; get it from its official source",
        ) from error
    except _DECODING_ERRORS as error:
        reason = f"{type(error).__name__}: {error}"
        raise _unreadable(path, reason[:_LONGEST_REASON]) from error


def _unreadable(path: Path, reason: str) -> ModelLoadError:
    return ModelLoadError(
        f"{path.name} is no whole PyTorch checkpoint: {reason}",
        hint="Take the file from its source again",
    )


# What a broken pickle or archive makes the standard library raise.
_DECODING_ERRORS = (
    pickle.UnpicklingError,
    zipfile.BadZipFile,
    struct.error,
    EOFError,
    AttributeError,
    IndexError,
    KeyError,
    TypeError,
    ValueError,
    UnicodeDecodeError,
    NotImplementedError,
    OverflowError,
    MemoryError,
    RecursionError,
)


def _read_zip(mapped: mmap.mmap) -> tuple[object, Mapping[str, tuple[int, int]]]:
    """Unpickle the archive's `data.pkl`; map storage keys to (start, bytes)."""
    with zipfile.ZipFile(io.BufferedReader(_MappedFile(mapped))) as archive:
        pickles = [n for n in archive.namelist() if n.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise zipfile.BadZipFile("it holds no data.pkl")
        prefix = pickles[0].removesuffix("data.pkl")
        order = f"{prefix}byteorder"
        if order in archive.namelist() and _stored(archive, order) != b"little":
            raise zipfile.BadZipFile(_FOREIGN_ORDER)
        state = StateUnpickler(io.BytesIO(_stored(archive, pickles[0]))).load()
        places = {
            info.filename.removeprefix(f"{prefix}data/"): _content_place(mapped, info)
            for info in archive.infolist()
            if info.filename.startswith(f"{prefix}data/")
        }
    return state, places


def _stored(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read a member, which cannot be larger than the file that it is in."""
    _refuse_coded(archive.getinfo(name))
    return archive.read(name)


def _refuse_coded(info: zipfile.ZipInfo) -> None:
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & _ENCRYPTED:
        raise zipfile.BadZipFile(f"{quoted(info.filename)} is compressed or encrypted")


def _content_place(mapped: mmap.mmap, info: zipfile.ZipInfo) -> tuple[int, int]:
    _refuse_coded(info)
    # The local header's name and extra field may differ from the directory's in length.
    name_bytes, extra_bytes = struct.unpack_from("<HH", mapped, info.header_offset + 26)
    return info.header_offset + 30 + name_bytes + extra_bytes, info.file_size


class _MappedFile(io.RawIOBase):
    """A mapped file as a stream, without a copy of it."""

    def __init__(self, mapped: mmap.mmap) -> None:
        self._mapped = mapped
        self._position = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        origin = {
            io.SEEK_SET: 0,
            io.SEEK_CUR: self._position,
            io.SEEK_END: len(self._mapped),
        }[whence]
        self._position = max(0, origin + offset)
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: "WriteableBuffer") -> int:
        target = memoryview(buffer).cast("B")
        content = self._mapped[self._position : self._position + len(target)]
        target[: len(content)] = content
        self._position += len(content)
        return len(content)


def _read_legacy(mapped: mmap.mmap) -> tuple[object, Mapping[str, tuple[int, int]]]:
    """Read the format before zip: five pickles, then each storage after its length."""
    stream = io.BufferedReader(_MappedFile(mapped))
    if StateUnpickler(stream).load() != _LEGACY_MAGIC:
        raise pickle.UnpicklingError("neither a zip archive nor the older format")
    StateUnpickler(stream).load()  # protocol version
    machine = StateUnpickler(stream).load()
    if isinstance(machine, dict) and machine.get("little_endian") is False:
        raise pickle.UnpicklingError(_FOREIGN_ORDER)
    unpickler = StateUnpickler(stream)
    state = unpickler.load()
    keys = StateUnpickler(stream).load()
    if not (isinstance(keys, list) and all(isinstance(key, str) for key in keys)):
        raise pickle.UnpicklingError("it lists no storages")
    places = {}
    position = stream.tell()
    for key in keys:
        (elements,) = struct.unpack_from("<q", mapped, position)
        size = elements * unpickler.storages[key].kind.stored.itemsize
        places[key] = (position + 8, size)
        position += 8 + size
    return state, places


def _tensors_of(state: object) -> Mapping[str, TensorView]:
    if not isinstance(state, dict):
        raise pickle.UnpicklingError("it holds no state dict")
    tensors = {}
    for key, value in state.items():
        if not isinstance(key, str):
            raise pickle.UnpicklingError("a key of it is no text")
        if isinstance(value, TensorView):
            tensors[key] = value
        elif key not in _COUNTERS:
            raise pickle.UnpicklingError(f"{quoted(key)} is no tensor")
    return tensors


def _tensors_by_name(state: object) -> Mapping[tuple[str, str], TensorView]:
    if not isinstance(state, dict):
        raise pickle.UnpicklingError("it holds no tables")
    return {
        (name, key): value
        for name, table in state.items()
        if isinstance(name, str) and isinstance(table, dict)
        for key, value in table.items()
        if isinstance(key, str) and isinstance(value, TensorView)
    }


def _map_tensor(
    mapped: mmap.mmap, places: Mapping[str, tuple[int, int]], view: TensorView
) -> Tensor:
    kind = view.storage.kind
    start, size = places[view.storage.key]
    needed = max(_last_element(view) + 1, prod(view.shape))
    if size < needed * kind.stored.itemsize or start + size > len(mapped):
        raise pickle.UnpicklingError("a tensor reaches beyond the end of its storage")
    elements: Tensor = np.frombuffer(
        mapped, kind.stored, size // kind.stored.itemsize, start
    )
    byte_strides = [stride * kind.stored.itemsize for stride in view.strides]
    tensor = np.lib.stride_tricks.as_strided(
        elements[view.offset :], view.shape, byte_strides, writeable=False
    )
    if not kind.is_bfloat16:
        return tensor
    return (tensor.astype(np.uint32) << np.uint32(16)).view(np.float32)


def _last_element(view: TensorView) -> int:
    """Compute the index in the storage of the furthest element; -1 for none."""
    if min((view.offset, *view.shape, *view.strides)) < 0:
        raise pickle.UnpicklingError("a tensor has a negative size or stride")
    if 0 in view.shape:
        return -1
    return view.offset + sum(
        (size - 1) * stride
        for size, stride in zip(view.shape, view.strides, strict=True)
    )
