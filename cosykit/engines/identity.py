"""Tell requests apart that would not be spoken alike."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass

import numpy as np

from cosykit.hub.bundle import Manifest
from cosykit.types import SpeechRequest

_Leaf = tuple[str, bytes | memoryview]

_UNHEARD = frozenset({"client", "priority", "start_within_s", "request_id"})


def heard_fields(
    request: SpeechRequest, without: Collection[str]
) -> Mapping[str, object]:
    """Give the fields of a request that shape its audio; new ones do by themselves.

    Args:
        without: Those that mean nothing to an engine, or that it knows better: the
            voice behind a name, and what is left of a text once it is normalised.
    """
    names = (field.name for field in fields(request))
    return {
        name: getattr(request, name)
        for name in names
        if name not in _UNHEARD and name not in without
    }


def hashes_of(manifest: Manifest) -> Mapping[str, str]:
    """Give what tells one install of a model from another."""
    return {path: file.sha256 for path, file in sorted(manifest.files.items())}


def digest(*parts: object) -> bytes:
    """Reduce values to 32 bytes that no other values have.

    Args:
        parts: None, numbers, texts, bytes, arrays, and sequences, mappings and
            dataclasses of such.

    Raises:
        TypeError: A part is something else.
    """
    hashed = hashlib.sha256()
    for kind, content in _leaves(parts):
        hashed.update(f"{kind} {memoryview(content).nbytes} ".encode())
        hashed.update(content)
    return hashed.digest()


def _leaves(part: object) -> Iterator[_Leaf]:
    """Take a value apart; each leaf is told from what could stand in its place."""
    if isinstance(part, str):
        yield "text", part.encode("utf-8", "surrogatepass")
    elif isinstance(part, bytes):
        yield "bytes", part
    elif isinstance(part, float) and part.is_integer():
        # As an integer is spelt: a speed of 1.0 is one of 1.
        yield "number", repr(int(part)).encode()
    elif part is None or isinstance(part, int | float):
        yield "number", repr(part).encode()
    elif isinstance(part, np.ndarray):
        about = f"array {part.dtype.str} {part.shape}"
        # No copy: five minutes of recorded speech have 58 MB.
        yield about, np.ascontiguousarray(part).ravel().data
    elif isinstance(part, Mapping):
        yield from _leaves_of_all("mapping", [*part.items()])
    elif isinstance(part, Sequence):
        yield from _leaves_of_all("sequence", part)
    elif is_dataclass(part):
        named = [(field.name, getattr(part, field.name)) for field in fields(part)]
        yield from _leaves_of_all(type(part).__name__, named)
    else:
        raise TypeError(f"{type(part).__name__} cannot be reduced to a digest")


def _leaves_of_all(kind: str, parts: Sequence[object]) -> Iterator[_Leaf]:
    yield f"{kind} of {len(parts)}", b""
    for part in parts:
        yield from _leaves(part)
