"""Speech that was spoken to its end, and the form in which it is stored elsewhere.

magic | CRC-32 of all else | length of the facts | facts in JSON | audio
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

_MAGIC = b"CosyKit\x01"
_HEAD = struct.Struct(f">{len(_MAGIC)}sII")
_PIECE_BYTES = 1 << 16
# What Python takes for a value and its key, beside the audio.
_OVERHEAD_BYTES = 512


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class FinishedSpeech:
    """The whole speech of a request, encoded.

    Attributes:
        sample_rate: Samples a second of the encoded audio.
        remarks: What could be better about the recorded voice.
    """

    audio: bytes
    sample_rate: int
    duration_s: float
    remarks: tuple[str, ...] = ()

    @property
    def size_bytes(self) -> int:
        """What it takes in memory."""
        return len(self.audio) + sum(map(len, self.remarks)) + _OVERHEAD_BYTES

    def pieces(self) -> Iterator[bytes]:
        """Cut the audio for those who listen to it piece by piece."""
        for start in range(0, len(self.audio), _PIECE_BYTES):
            yield self.audio[start : start + _PIECE_BYTES]


class _Facts(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    sample_rate: Annotated[int, Field(gt=0)]
    duration_s: Annotated[float, Field(gt=0)]
    remarks: tuple[str, ...]


def packed(key: bytes, speech: FinishedSpeech) -> bytes:
    """Write speech down, so that it cannot be taken for that of another key."""
    facts = _Facts(
        sample_rate=speech.sample_rate,
        duration_s=speech.duration_s,
        remarks=speech.remarks,
    )
    about = facts.model_dump_json().encode()
    checksum = _checksum(key, about, speech.audio)
    return _HEAD.pack(_MAGIC, checksum, len(about)) + about + speech.audio


def unpacked(key: bytes, value: bytes) -> FinishedSpeech | None:
    """Read what `packed` wrote; None where it is anything else, or damaged."""
    if len(value) < _HEAD.size:
        return None
    magic, checksum, size = _HEAD.unpack_from(value)
    about = value[_HEAD.size : _HEAD.size + size]
    audio = value[_HEAD.size + size :]
    if magic != _MAGIC or checksum != _checksum(key, about, audio):
        return None
    try:
        facts = _Facts.model_validate_json(about)
    except ValidationError:
        return None
    return FinishedSpeech(audio, facts.sample_rate, facts.duration_s, facts.remarks)


def _checksum(key: bytes, about: bytes, audio: bytes) -> int:
    return zlib.crc32(audio, zlib.crc32(about, zlib.crc32(key)))
