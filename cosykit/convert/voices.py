"""Turn the built-in voices of a release into files of their own."""

import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from types import MappingProxyType

import numpy as np

from cosykit.convert.checkpoint import Tensor, read_tables
from cosykit.errors import ModelLoadError, quoted
from cosykit.hub.voice_file import StoredVoice, voice_path, write_voice
from cosykit.types import Gender, Language

# What the official names say, in Chinese.
_LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {"中文": "zh", "英文": "en", "日语": "ja", "粤语": "yue", "韩语": "ko"}
)
_LONGEST_ID = 32
_GENDERS: Mapping[str, Gender] = MappingProxyType({"女": "female", "男": "male"})


def write_built_in_voices(
    source: Path,
    folder: Path,
    model: str,
    speaker_size: int,
    taken: Collection[str] = (),
) -> None:
    """Write every voice of a `spk2info.pt` into a folder.

    Of a voice only its speaker vector is taken, as upstream does.

    Args:
        taken: Ids that other voices have already.

    Raises:
        ModelLoadError: The file is broken, or a voice in it is of another size.
        ResourceError: The folder cannot be written or the disk is full.
    """
    ids = {id_.casefold() for id_ in taken}
    for name, table in read_tables(source).items():
        vector = table.get("embedding")
        if vector is None or vector.size != speaker_size or not _is_finite(vector):
            raise ModelLoadError(
                f"the voice {quoted(name)} in {source.name} has no speaker vector of "
                f"{speaker_size} numbers",
                hint="Convert only voices that were made for this model",
            )
        # Halves of characters, which no file could hold, are not printable either.
        shown = "".join(c if c.isprintable() else "_" for c in name)
        voice = _voice(shown, model, vector)
        voice = replace(voice, id=_free(voice.id, ids))
        ids.add(voice.id.casefold())
        write_voice(voice_path(folder, voice.id), voice)


def _is_finite(vector: Tensor) -> bool:
    return bool(np.isfinite(vector.astype(np.float32)).all())


def _free(wanted: str, taken: Collection[str]) -> str:
    """Number an id, where another voice has it already."""
    numbered = (f"{wanted}_{number}" for number in count(2))
    tried = chain([wanted], numbered)
    return next(id_ for id_ in tried if id_.casefold() not in taken)


def _voice(name: str, model: str, vector: Tensor) -> StoredVoice:
    """Describe a voice: 中文女 becomes zh_female."""
    own, gender = _LANGUAGES.get(name[:-1]), _GENDERS.get(name[-1:])
    is_official = own is not None and gender is not None
    others = tuple(language for language in _LANGUAGES.values() if language != own)
    return StoredVoice(
        id=f"{own}_{gender}" if is_official else _fit_for_a_file(name),
        name=name,
        model=model,
        speaker=vector.reshape(-1).astype(np.float32),
        languages=(own, *others) if own and is_official else others,
        gender=gender if is_official else None,
    )


def _fit_for_a_file(name: str) -> str:
    """Make an id of a name: the name, where it can be one of a file."""
    plain = "".join(
        c if c.isalnum() or c in "-_." else "_"
        for c in unicodedata.normalize("NFC", name)
    )
    return plain.strip(".")[:_LONGEST_ID] or "voice"
