"""Unpickle a state dict as descriptions of tensors, and refuse everything else.

A pickle can run any code. This module knows the few names that a state dict needs, and
none of them does more than build a value of it.

Source: torch/serialization.py, torch/_utils.py
"""

import pickle
import pickletools
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import BinaryIO
from warnings import catch_warnings

import numpy as np

from cosykit.errors import quoted

# The state dict of the full model remembers some ten thousand objects. Memory for them
# is taken at once, up to the highest number that the pickle gives one.
_MOST_REMEMBERED = 1_000_000
_REMEMBERING = ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE")
_RECALLING = ("GET", "BINGET", "LONG_BINGET")
_TEXTS = (pickletools.pyunicode, pickletools.pybytes_or_str)


@dataclass(frozen=True, slots=True)
class StorageType:
    """A torch storage class by name.

    Attributes:
        stored: How its elements lie in the file.
        is_bfloat16: Whether they are the upper halves of float32 numbers.
    """

    stored: np.dtype[np.generic]
    is_bfloat16: bool = False


_STORAGES: Mapping[str, StorageType] = MappingProxyType(
    {
        "FloatStorage": StorageType(np.dtype("<f4")),
        "HalfStorage": StorageType(np.dtype("<f2")),
        "BFloat16Storage": StorageType(np.dtype("<u2"), is_bfloat16=True),
        "DoubleStorage": StorageType(np.dtype("<f8")),
        "LongStorage": StorageType(np.dtype("<i8")),
        "IntStorage": StorageType(np.dtype("<i4")),
        "ShortStorage": StorageType(np.dtype("<i2")),
        "CharStorage": StorageType(np.dtype("i1")),
        "ByteStorage": StorageType(np.dtype("u1")),
        "BoolStorage": StorageType(np.dtype("?")),
    }
)


@dataclass(frozen=True, slots=True)
class Storage:
    """A storage that the pickle refers to."""

    kind: StorageType
    key: str


@dataclass(frozen=True, slots=True)
class TensorView:
    """A tensor as the pickle describes it; strides and offset in elements."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class UnsafePickleError(Exception):
    """The pickle names something that is not on the list."""


def _empty_dictionary() -> "OrderedDict[str, object]":
    """Stand in for `OrderedDict`, whose content a pickle adds afterwards."""
    return OrderedDict()


def _rebuild_tensor(
    storage: Storage,
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    requires_grad: bool = False,
    hooks: object = None,
    metadata: object = None,
) -> TensorView:
    """Stand in for `torch._utils._rebuild_tensor_v2`."""
    return TensorView(storage, offset, tuple(shape), tuple(strides))


def _rebuild_parameter(
    tensor: TensorView, requires_grad: bool, hooks: object
) -> TensorView:
    """Stand in for `torch._utils._rebuild_parameter`."""
    return tensor


_ALLOWED: Mapping[tuple[str, str], Callable[..., object]] = MappingProxyType(
    {
        ("collections", "OrderedDict"): _empty_dictionary,
        ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor,
        ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
    }
)


class StateUnpickler(pickle.Unpickler):
    """Unpickles dictionaries, numbers and descriptions of tensors, nothing else.

    Attributes:
        storages: Those it met, by their keys.
    """

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream)
        self._stream = stream
        self.storages: dict[str, Storage] = {}

    def load(self) -> object:
        """Unpickle what comes next, unless it wants more than a state dict can need."""
        start = self._stream.tell()
        walk = _Walk()
        with catch_warnings(action="ignore"):  # of odd texts in broken files
            for opcode, argument, _ in pickletools.genops(self._stream):
                walk.take(opcode, argument)
        self._stream.seek(start)
        found: object = super().load()
        return found

    def find_class(self, module: str, name: str) -> object:
        """Look a name up on the list."""
        if module == "torch" and name in _STORAGES:
            return _STORAGES[name]
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise UnsafePickleError(quoted(f"{module}.{name}")) from None

    def persistent_load(self, pid: object) -> Storage:
        """Note which storage is meant."""
        if not (isinstance(pid, tuple) and len(pid) >= 5 and pid[0] == "storage"):
            raise pickle.UnpicklingError("an unknown kind of reference")
        _, kind, key, _, elements = pid[:5]
        is_storage = isinstance(kind, StorageType) and isinstance(elements, int)
        if not (is_storage and isinstance(key, str)):
            raise pickle.UnpicklingError("a reference to something else than a storage")
        storage = Storage(kind, key)
        self.storages[storage.key] = storage
        return storage


class _Walk:
    """Follows the instructions of a pickle without heeding them.

    It knows which things on the stack are texts, and lets nothing else be a key: the
    hash of a tuple of twice the same tuple, and so on, takes for ever.
    """

    def __init__(self) -> None:
        self._stack: list[pickletools.StackObject] = []
        self._remembered: dict[int, pickletools.StackObject] = {}

    def take(self, opcode: pickletools.OpcodeInfo, argument: object) -> None:
        """Take the next instruction.

        Raises:
            UnpicklingError: It asks for too much memory, or for odd keys.
            IndexError, KeyError: It takes what is not there.
        """
        number = argument if isinstance(argument, int) else len(self._remembered)
        if opcode.name in _REMEMBERING:
            if number > _MOST_REMEMBERED:
                raise pickle.UnpicklingError("it remembers more than a state dict does")
            self._remembered[number] = self._stack[-1]
        elif opcode.name in _RECALLING:
            self._stack.append(self._remembered[number])
        else:
            if any(key not in _TEXTS for key in self._keys(opcode.name)):
                raise pickle.UnpicklingError("a key of it is no text")
            for kind in reversed(opcode.stack_before):
                self._drop(kind)
            self._stack += opcode.stack_after

    def _keys(self, name: str) -> Sequence[pickletools.StackObject]:
        """List what an instruction is going to hash."""
        if name == "SETITEM":
            return self._stack[-2:-1]
        if name not in ("SETITEMS", "DICT", "ADDITEMS", "FROZENSET"):
            return ()
        start = len(self._stack)
        while self._stack[start - 1] is not pickletools.markobject:
            start -= 1
        return self._stack[start :: 2 if name in ("SETITEMS", "DICT") else 1]

    def _drop(self, kind: pickletools.StackObject) -> None:
        if kind is not pickletools.stackslice:
            self._stack.pop()
            return
        while self._stack[-1] is not pickletools.markobject:
            self._stack.pop()
