"""The voices of an installed model: built-in ones, and those that people add.

Each is a file of its own (see `hub/voice_file.py`) whose name is the voice's id. Any
number of processes may read while one changes something; changes take turns, also with
an install of the model.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from cosykit.errors import (
    InputError,
    ModelLoadError,
    NotFoundError,
    ResourceError,
    quoted,
)
from cosykit.hub.atomic import sync, translate_os_error
from cosykit.hub.bundle import MANIFEST, Bundle
from cosykit.hub.lock import install_lock
from cosykit.hub.voice_file import (
    StoredVoice,
    read_voice,
    voice_path,
    voice_paths,
    write_voice,
)
from cosykit.spec import ModelFacts
from cosykit.synthesis.voice.recording import LONGEST_S

_RESERVED = ("all", "auto", "default", "none")
# File systems allow 255 bytes, and a file is written under a longer name first.
_MOST_NAME_BYTES = 200
# How far the frames of a recording's mel may be from what its tokens take.
_FRAMES_OFF, _SHARE_OFF = 4, 0.05
# By how much a recording may seem longer than any that is measured.
_TOO_LONG_S = 1.0

State = tuple[tuple[str, tuple[int, ...]], ...]
"""Names of files, and what changes when a file does."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What is in the folder of voices.

    Attributes:
        voices: Those that can be used, in the order of their ids.
        broken: What is wrong with the others.
    """

    voices: Sequence[StoredVoice]
    broken: Sequence[ModelLoadError]


def added_voices(bundle: Bundle) -> Sequence[str]:
    """Give the ids of the voices that people added to a model, if it takes any."""
    return VoiceStore(bundle).added() if bundle.manifest.facts else ()


class VoiceStore:
    """Keeps the voices of a model; ids are the same in any letter case."""

    def __init__(self, bundle: Bundle) -> None:
        facts = bundle.manifest.facts
        if facts is None:
            raise InputError(
                f"{bundle.manifest.model} cannot take voices",
                hint="Run `cosykit install cosyvoice-300m`, and add the voice with "
                "--model cosyvoice-300m",
            )
        self._bundle, self._facts = bundle, facts
        self._folder = bundle.voices_folder

    def state(self) -> State:
        """Tell one state of the voices from another, without reading them.

        Raises:
            ModelLoadError: The model was removed.
        """
        self._check_installed()
        found = ((path, _stamp(path)) for path in voice_paths(self._folder))
        return tuple((path.name, stamp) for path, stamp in found if stamp)

    def list(self) -> Listing:
        """Read all voices; a broken file is told and in nobody's way."""
        voices: list[StoredVoice] = []
        broken: list[ModelLoadError] = []
        for path in voice_paths(self._folder):
            try:
                voices.append(self._read(path))
            except ModelLoadError as error:
                # Another process may have removed it meanwhile.
                if path.exists():
                    broken.append(error)
        return Listing(voices, broken)

    def added(self) -> Sequence[str]:
        """Give the ids of the voices that people added, broken ones too."""
        ids = (path.stem for path in voice_paths(self._folder))
        return [voice_id for voice_id in ids if not self.is_built_in(voice_id)]

    def built_in(self) -> Sequence[StoredVoice]:
        """Read the voices that came with the model, but for broken ones."""
        voices = self.list().voices
        return [voice for voice in voices if self.is_built_in(voice.id)]

    def is_built_in(self, voice_id: str) -> bool:
        """Tell whether a voice came with the model."""
        paths = map(Path, self._bundle.manifest.others)
        built_in = (path.stem for path in paths if path.parent.name == "voices")
        return _same(voice_id) in map(_same, built_in)

    def read(self, voice_id: str) -> StoredVoice:
        """Read a voice.

        Raises:
            NotFoundError: There is none of this id.
            ModelLoadError: Its file is broken.
        """
        path = self._existing(voice_id)
        try:
            return self._read(path)
        except ModelLoadError:
            if path.exists():
                raise
            raise _unknown(voice_id) from None

    def check_name(self, name: str, *, replaces: bool = False) -> None:
        """Make sure that a voice of this name could be added.

        Raises:
            InputError: As of `add`.
        """
        _checked_path(self._folder, name)
        self._replaceable(name, name, replaces)

    def add(self, voice: StoredVoice, *, replaces: bool = False) -> None:
        """Save a voice.

        Args:
            replaces: Whether to put it in the place of an added one of the same id.

        Raises:
            InputError: The id is taken, or no good as a name; the voice was made
                for another kind of model.
            ResourceError: The folder cannot be written or the disk is full.
        """
        path = _checked_path(self._folder, voice.id)
        misfit = misfit_of(voice, self._facts)
        if misfit:
            raise _misfit(voice.id, self._bundle.manifest.model, misfit)
        with self._changing():
            path = self._replaceable(voice.id, voice.name, replaces) or path
            write_voice(path, replace(voice, id=path.stem))

    def remove(self, voice_id: str) -> None:
        """Delete an added voice.

        Raises:
            NotFoundError: There is none of this id.
            InputError: It came with the model.
            ResourceError: The file cannot be deleted.
        """
        if self.is_built_in(voice_id):
            raise InputError(
                f"the voice {voice_id} came with the model and stays",
                hint="Only added voices can be removed",
                param="voice",
            )
        with self._changing():
            _delete(self._existing(voice_id))

    def export(self, voice_id: str, target: Path, *, replaces: bool = False) -> None:
        """Write a voice to a file that another machine can import.

        Raises:
            NotFoundError: There is none of this id.
            ModelLoadError: Its file is broken.
            ResourceError: The target exists, or is no file, or cannot be written.
        """
        voice = self.read(voice_id)
        if target.exists() and not target.is_file():
            raise ResourceError(
                f"{target} is no file that a voice could take the place of",
                hint="Name a file",
            )
        if target.exists() and not replaces:
            raise ResourceError(
                f"{target} already exists", hint="Choose another name, or replace it"
            )
        write_voice(target, voice)

    def take(
        self, source: Path, voice_id: str | None = None, *, replaces: bool = False
    ) -> StoredVoice:
        """Import a voice from a file.

        Args:
            voice_id: What to call it here; None keeps its id.

        Raises:
            ModelLoadError: The file is no voice.
            InputError: There is no such file, or as of `add`.
        """
        if not source.is_file():
            raise InputError(
                f"there is no file {source}", hint="Name one that `export` wrote"
            )
        voice = read_voice(source)
        if voice_id is not None:
            voice = replace(voice, id=voice_id, name=voice_id)
        self.add(voice, replaces=replaces)
        return voice

    def _read(self, path: Path) -> StoredVoice:
        voice = read_voice(path)
        misfit = misfit_of(voice, self._facts)
        if misfit:
            raise ModelLoadError(
                f"{path} was made for another kind of model: {misfit}",
                hint="Add the voice again from its recording",
            )
        return replace(voice, id=unicodedata.normalize("NFC", path.stem))

    def _existing(self, voice_id: str) -> Path:
        for path in voice_paths(self._folder):
            if _same(path.stem) == _same(voice_id):
                return path
        raise _unknown(voice_id)

    def _replaceable(self, voice_id: str, name: str, replaces: bool) -> Path | None:
        """Make sure that a name is free, and give the file that is to be replaced."""
        wanted = {_same(voice_id), _same(name)}
        own = None
        for path in voice_paths(self._folder):
            is_own = _same(path.stem) == _same(voice_id)
            if is_own and replaces and not self.is_built_in(path.stem):
                own = path
            elif wanted & _names(path):
                raise InputError(
                    f"there is a voice {path.stem} already",
                    hint="Choose another name, or replace the added voice",
                    param="voice",
                )
        return own

    @contextmanager
    def _changing(self) -> Iterator[None]:
        bundle = self._bundle
        with install_lock(bundle.folder.parent, bundle.manifest.model):
            self._check_installed()
            yield

    def _check_installed(self) -> None:
        if not (self._bundle.folder / MANIFEST).is_file():
            model = self._bundle.manifest.model
            raise ModelLoadError(
                f"{model} was removed", hint=f"Run: cosykit install {model}"
            )


def _unknown(voice_id: str) -> NotFoundError:
    return NotFoundError(
        f"there is no voice {quoted(voice_id)}",
        hint="Run `cosykit voices` to see those that are there",
        param="voice",
    )


def misfit_of(voice: StoredVoice, facts: ModelFacts) -> str:
    """Say why a model cannot speak with a voice; empty if it can."""
    if voice.speaker.size != facts.speaker_size:
        return f"its speaker vector has {voice.speaker.size} numbers"
    prompt = voice.prompt
    if prompt is None:
        return ""
    if prompt.mel.shape[0] != facts.mels:
        return f"its mel has {prompt.mel.shape[0]} channels"
    if prompt.tokens.min() < 0 or prompt.tokens.max() >= facts.speech_vocabulary:
        return "it has other speech tokens"
    if prompt.tokens.size > (LONGEST_S + _TOO_LONG_S) * facts.token_rate:
        # Every sentence would take minutes, and gigabytes.
        return f"its recording is longer than {LONGEST_S:g} s"
    frame_rate = facts.sample_rate / facts.samples_per_frame
    frames = prompt.tokens.size * frame_rate / facts.token_rate
    off = abs(prompt.mel.shape[1] - frames)
    if off > _FRAMES_OFF + _SHARE_OFF * frames:
        return "its mel and its speech tokens are of other lengths"
    return ""


def _same(name: str) -> str:
    """Reduce a name to what two of the same voice have in common."""
    return unicodedata.normalize("NFC", name.strip()).casefold()


def _stamp(path: Path) -> tuple[int, ...]:
    """Give what changes when a file does; empty when it has just been deleted."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size


def _names(path: Path) -> set[str]:
    try:
        return {_same(path.stem), _same(read_voice(path).name)}
    except ModelLoadError:
        return {_same(path.stem)}


def _checked_path(folder: Path, voice_id: str) -> Path:
    path = voice_path(folder, voice_id)
    if len(path.stem.encode()) > _MOST_NAME_BYTES:
        raise InputError(
            "the name of the voice is too long",
            hint="Choose a shorter one",
            param="voice",
        )
    if _same(voice_id) in _RESERVED:
        raise InputError(
            f"a voice cannot be called {voice_id}",
            hint="Choose another name",
            param="voice",
        )
    return path


def _misfit(voice_id: str, model: str, reason: str) -> InputError:
    return InputError(
        f"{model} cannot speak with the voice {voice_id}: {reason}",
        hint="Add the voice from its recording",
        param="voice",
    )


def _delete(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
        sync(path.parent)
    except OSError as error:
        raise translate_os_error(error, path) from error
