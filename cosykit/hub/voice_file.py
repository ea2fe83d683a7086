"""A voice of a model as a file: what the model needs to know of a speaker.

    voices/<id>.npz   about: JSON as bytes, see `_About`
                      speaker: float32 (speaker size)
                      tokens, mel: what was recorded, only of voices with a prompt

Built-in and saved voices have the same form; the manifest of the bundle lists those
that came with the model. A file may come from a stranger: no code in it is run, and
nothing is believed of its sizes.
"""

import json
import unicodedata
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from cosykit.errors import InputError, ModelLoadError, quoted
from cosykit.hub.atomic import replacing
from cosykit.types import Gender, Language, Mel

_SUFFIX = ".npz"
_LONGEST_ID = 64
# 30 s of speech take 0.9 MB; what claims to be larger is no voice.
_MOST_BYTES = 64 << 20
# An encrypted archive is a RuntimeError.
_UNREADABLE = (
    *(OSError, ValueError, KeyError, EOFError, MemoryError, RuntimeError),
    zlib.error,
)

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class StoredPrompt:
    """Recorded speech that a cloned voice continues, as the model reads it.

    Attributes:
        transcript: What is said in it; empty if nobody knows.
        tokens: Its speech tokens, int32 (tokens).
        mel: (mels, frames).
    """

    transcript: str
    tokens: NDArray[np.int32]
    mel: Mel


@dataclass(frozen=True, slots=True, eq=False)
class StoredVoice:
    """A voice as it is stored.

    Attributes:
        id: Stable identifier, and the name of the file.
        name: Name to show to people.
        model: Model whose networks measured it.
        speaker: Speaker vector, float32 (speaker size), of any length.
        languages: Languages it is known to speak, its own first.
        prompt: None for voices that are a speaker vector and nothing more.
    """

    id: str
    name: str
    model: str
    speaker: NDArray[np.float32]
    languages: tuple[Language, ...] = ()
    gender: Gender | None = None
    prompt: StoredPrompt | None = None


class _About(BaseModel):
    """What is said of a voice in words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    id: str
    name: str
    model: str
    languages: tuple[Language, ...]
    gender: Gender | None
    transcript: str


def voice_path(folder: Path, voice_id: str) -> Path:
    """Locate the file of a voice, which need not exist.

    Raises:
        InputError: The id cannot be the name of a file.
    """
    name = unicodedata.normalize("NFC", voice_id)
    is_fit = (
        0 < len(name) <= _LONGEST_ID
        and name == name.strip()
        and name.isprintable()
        and not name.startswith(".")
        and not set(name) & set('/\\:*?"<>|')
    )
    if not is_fit:
        raise InputError(
            f"{quoted(voice_id)} cannot be the name of a voice",
            hint=f"Choose up to {_LONGEST_ID} letters, digits, - and _",
            param="voice",
        )
    return folder / f"{name}{_SUFFIX}"


def voice_paths(folder: Path) -> tuple[Path, ...]:
    """List the files of the voices in a folder, which need not exist."""
    if not folder.is_dir():
        return ()
    paths = (path for path in folder.iterdir() if not path.name.startswith("."))
    return tuple(sorted(path for path in paths if path.suffix == _SUFFIX))


def write_voice(path: Path, voice: StoredVoice) -> None:
    """Write a voice, whole or not at all; the same voice gives the same bytes.

    Raises:
        ResourceError: The folder cannot be written or the disk is full.
    """
    prompt = voice.prompt
    about = _About(
        id=voice.id,
        name=voice.name,
        model=voice.model,
        languages=voice.languages,
        gender=voice.gender,
        transcript=prompt.transcript if prompt else "",
    )
    text = json.dumps(about.model_dump(), ensure_ascii=False, sort_keys=True)
    arrays: dict[str, NDArray[np.generic]] = {
        "about": np.frombuffer(text.encode(), np.uint8),
        "speaker": voice.speaker.astype(np.float32),
    }
    if prompt:
        arrays["tokens"] = prompt.tokens.astype(np.int32)
        arrays["mel"] = prompt.mel.astype(np.float32)
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def read_voice(path: Path) -> StoredVoice:
    """Read a voice.

    Raises:
        ModelLoadError: The file is missing, broken, or no voice.
    """
    try:
        _check_kind(path)
        _check_size(path)
        with np.load(path, allow_pickle=False) as arrays:
            about = _About.model_validate_json(arrays["about"].tobytes())
            speaker = _checked(arrays["speaker"], np.float32, 1)
            prompt = None
            if "tokens" in arrays:
                prompt = StoredPrompt(
                    about.transcript,
                    tokens=_checked(arrays["tokens"], np.int32, 1),
                    mel=_checked(arrays["mel"], np.float32, 2),
                )
    except ValidationError as error:
        raise _unreadable(path, error.errors()[0]["msg"]) from error
    except (*_UNREADABLE, zipfile.BadZipFile) as error:
        raise _unreadable(path, str(error) or type(error).__name__) from error
    return StoredVoice(
        id=about.id,
        name=about.name,
        model=about.model,
        speaker=speaker,
        languages=about.languages,
        gender=about.gender,
        prompt=prompt,
    )


def _check_kind(path: Path) -> None:
    # A pipe would keep its reader waiting for good.
    if path.exists() and not path.is_file():
        raise ValueError("it is no regular file")


def _check_size(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        size_bytes = sum(entry.file_size for entry in archive.infolist())
    if size_bytes > _MOST_BYTES:
        raise ValueError(f"it would have {size_bytes} bytes")


def _checked(
    array: NDArray[np.generic], dtype: type[Number], dimensions: int
) -> NDArray[Number]:
    if array.dtype != dtype or array.ndim != dimensions or not array.size:
        raise ValueError(f"an array of it is {array.dtype} {array.shape}")
    if not np.isfinite(array.astype(np.float32)).all():
        raise ValueError("it holds numbers that are not finite")
    return array.view(dtype)


def _unreadable(path: Path, reason: str) -> ModelLoadError:
    return ModelLoadError(
        f"{path} is no voice that this version can read: {reason}",
        hint="Add the voice again from its recording",
    )
