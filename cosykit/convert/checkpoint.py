"""Read PyTorch checkpoints without PyTorch and without trusting them.

A `.pt` file is a pickle that names tensors, and the tensors' bytes beside it: in a zip
archive since PyTorch 1.6, one after the other before that. A pickle can run any code,
so this reader knows the few names that a state dict needs and refuses all others.
Tensors are mapped from the file, not copied.

Source: torch/serialization.py, torch/_utils.py
"""

import io
import mmap
import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from cosykit.errors import ModelLoadError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Tensor = NDArray[np.generic]
Key = TypeVar("Key")

_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_ZIP_MAGIC = b"PK\x03\x04"
# Training writes these beside the tensors.
_COUNTERS = ("epoch", "step")


@dataclass(frozen=True, slots=True)
class _StorageType:
    """A torch storage class by name.

    Attributes:
        stored: How its elements lie in the file.
        is_bfloat16: Whether they are the upper halves of float32 numbers.
    """

    stored: np.dtype[np.generic]
    is_bfloat16: bool = False


_STORAGES: Mapping[str, _StorageType] = MappingProxyType(
    {
        "FloatStorage": _StorageType(np.dtype("<f4")),
        "HalfStorage": _StorageType(np.dtype("<f2")),
        "BFloat16Storage": _StorageType(np.dtype("<u2"), is_bfloat16=True),
        "DoubleStorage": _StorageType(np.dtype("<f8")),
        "LongStorage": _StorageType(np.dtype("<i8")),
        "IntStorage": _StorageType(np.dtype("<i4")),
        "ShortStorage": _StorageType(np.dtype("<i2")),
        "CharStorage": _StorageType(np.dtype("i1")),
        "ByteStorage": _StorageType(np.dtype("u1")),
        "BoolStorage": _StorageType(np.dtype("?")),
    }
)


@dataclass(frozen=True, slots=True)
class _Storage:
    """A storage that the pickle refers to."""

    kind: _StorageType
    key: str
    elements: int


@dataclass(frozen=True, slots=True)
class _TensorView:
    """A tensor as the pickle describes it; strides and offset in elements."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


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
    path: Path, pick: Callable[[object], Mapping[Key, _TensorView]]
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
    except _UnsafePickleError as error:
        raise ModelLoadError(
            f"{path.name} is refused: it asks for {error}, which no state dict needs",
            hint="Do not load this file anywhere; get it from its official source",
        ) from error
    except _DECODING_ERRORS as error:
        raise _unreadable(path, f"{type(error).__name__}: {error}") from error


def _unreadable(path: Path, reason: str) -> ModelLoadError:
    return ModelLoadError(
        f"{path.name} is no whole PyTorch checkpoint: {reason}",
        hint="Take the file from its source again",
    )


class _UnsafePickleError(Exception):
    """The pickle names something that is not on the list."""


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


def _rebuild_tensor(
    storage: _Storage,
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    requires_grad: bool = False,
    hooks: object = None,
    metadata: object = None,
) -> _TensorView:
    """Stand in for `torch._utils._rebuild_tensor_v2`."""
    return _TensorView(storage, offset, tuple(shape), tuple(strides))


def _rebuild_parameter(
    tensor: _TensorView, requires_grad: bool, hooks: object
) -> _TensorView:
    """Stand in for `torch._utils._rebuild_parameter`."""
    return tensor


_ALLOWED: Mapping[tuple[str, str], Callable[..., object]] = MappingProxyType(
    {
        ("collections", "OrderedDict"): OrderedDict,
        ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor,
        ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
    }
)


class _StateUnpickler(pickle.Unpickler):
    """Unpickles dictionaries, numbers and descriptions of tensors, nothing else."""

    def find_class(self, module: str, name: str) -> object:
        """Look a name up on the list."""
        if module == "torch" and name in _STORAGES:
            return _STORAGES[name]
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise _UnsafePickleError(f"{module}.{name}") from None

    def persistent_load(self, pid: object) -> _Storage:
        """Note which storage is meant."""
        if not (isinstance(pid, tuple) and len(pid) >= 5 and pid[0] == "storage"):
            raise pickle.UnpicklingError("an unknown kind of reference")
        _, kind, key, _, elements = pid[:5]
        if not (isinstance(kind, _StorageType) and isinstance(elements, int)):
            raise pickle.UnpicklingError("a reference to something else than a storage")
        return _Storage(kind, str(key), elements)


def _read_zip(mapped: mmap.mmap) -> tuple[object, Mapping[str, tuple[int, int]]]:
    """Unpickle the archive's `data.pkl`; map storage keys to (start, bytes)."""
    with zipfile.ZipFile(io.BufferedReader(_MappedFile(mapped))) as archive:
        pickles = [n for n in archive.namelist() if n.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise zipfile.BadZipFile("it holds no data.pkl")
        prefix = pickles[0].removesuffix("data.pkl")
        if f"{prefix}byteorder" in archive.namelist():
            order = archive.read(f"{prefix}byteorder")
            if order != b"little":
                raise zipfile.BadZipFile(f"its byte order is {order!r}")
        state = _StateUnpickler(io.BytesIO(archive.read(pickles[0]))).load()
        places = {
            info.filename.removeprefix(f"{prefix}data/"): _content_place(mapped, info)
            for info in archive.infolist()
            if info.filename.startswith(f"{prefix}data/")
        }
    return state, places


def _content_place(mapped: mmap.mmap, info: zipfile.ZipInfo) -> tuple[int, int]:
    if info.compress_type != zipfile.ZIP_STORED:
        raise zipfile.BadZipFile(f"{info.filename} is compressed")
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
    if _StateUnpickler(stream).load() != _LEGACY_MAGIC:
        raise pickle.UnpicklingError("neither a zip archive nor the older format")
    _StateUnpickler(stream).load()  # protocol version
    _StateUnpickler(stream).load()  # sizes of the writing machine's integers
    unpickler = _RecordingUnpickler(stream)
    state = unpickler.load()
    keys: object = _StateUnpickler(stream).load()
    if not isinstance(keys, list):
        raise pickle.UnpicklingError("it lists no storages")
    places = {}
    position = stream.tell()
    for key in map(str, keys):
        (elements,) = struct.unpack_from("<q", mapped, position)
        size = elements * unpickler.storages[key].kind.stored.itemsize
        places[key] = (position + 8, size)
        position += 8 + size
    return state, places


class _RecordingUnpickler(_StateUnpickler):
    """Remembers the storages it met."""

    def __init__(self, stream: "io.BufferedReader[_MappedFile]") -> None:
        super().__init__(stream)
        self.storages: dict[str, _Storage] = {}

    def persistent_load(self, pid: object) -> _Storage:
        """Note and remember which storage is meant."""
        storage = super().persistent_load(pid)
        self.storages[storage.key] = storage
        return storage


def _tensors_of(state: object) -> Mapping[str, _TensorView]:
    if not isinstance(state, dict):
        raise pickle.UnpicklingError("it holds no state dict")
    tensors = {}
    for key, value in state.items():
        if isinstance(value, _TensorView):
            tensors[str(key)] = value
        elif key not in _COUNTERS:
            raise pickle.UnpicklingError(f"{key} is no tensor")
    return tensors


def _tensors_by_name(state: object) -> Mapping[tuple[str, str], _TensorView]:
    if not isinstance(state, dict):
        raise pickle.UnpicklingError("it holds no tables")
    return {
        (str(name), str(key)): value
        for name, table in state.items()
        if isinstance(table, dict)
        for key, value in table.items()
        if isinstance(value, _TensorView)
    }


def _map_tensor(
    mapped: mmap.mmap, places: Mapping[str, tuple[int, int]], view: _TensorView
) -> Tensor:
    kind = view.storage.kind
    start, size = places[view.storage.key]
    needed = _last_element(view) + 1
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


def _last_element(view: _TensorView) -> int:
    """Compute the index in the storage of the furthest element; -1 for none."""
    if min((view.offset, *view.shape, *view.strides)) < 0:
        raise pickle.UnpicklingError("a tensor has a negative size or stride")
    if 0 in view.shape:
        return -1
    return view.offset + sum(
        (size - 1) * stride
        for size, stride in zip(view.shape, view.strides, strict=True)
    )
