"""The released files of a model, whole and checked, as conversion takes them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cosykit.errors import HubError, InputError, ModelLoadError, ResourceError
from cosykit.hub.atomic import delete_folder
from cosykit.hub.catalog import HubSource
from cosykit.hub.progress import Say, silent
from cosykit.hub.verify import FileDigest, digest_of

_LFS_POINTER = b"version https://git-lfs"


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """A folder of checked files.

    Attributes:
        origin: Where they came from, in words.
        repository: Repository on the hub; empty for a folder of the user's.
        revision: Revision of the repository; empty where there is none.
        digests: Digest of each file, by its name.
        unexpected: What the catalogue knew of each file that turned out another.
        is_ours: Whether the folder may be deleted after conversion.
    """

    folder: Path
    origin: str
    repository: str
    revision: str
    digests: Mapping[str, FileDigest]
    unexpected: Mapping[str, FileDigest]
    is_ours: bool

    def path(self, name: str) -> Path:
        """Locate a file."""
        return self.folder / name

    def discard(self) -> None:
        """Delete what was downloaded; a folder of the user's is left alone.

        Raises:
            ResourceError: A file cannot be deleted.
        """
        if self.is_ours:
            delete_folder(self.folder)


def list_folder(
    source: HubSource, folder: Path, only: Collection[str] | None = None
) -> Sequence[str]:
    """Name the files to take from a folder in the released layout; read none.

    Args:
        only: Names of the files to take; None for all that the model needs.

    Raises:
        InputError: There is no such folder.
        ModelLoadError: A file is missing.
    """
    remedy = "Name a folder with the files as they were released"
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}", hint=remedy, param="from")
    there = (name for name in source.optional if (folder / name).is_file())
    wanted = [n for n in (*source.files, *there) if only is None or n in only]
    missing = [name for name in wanted if not (folder / name).is_file()]
    if missing:
        raise ModelLoadError(f"{folder} lacks {', '.join(missing)}", hint=remedy)
    return wanted


def use_folder(
    source: HubSource,
    folder: Path,
    *,
    strict: bool,
    only: Collection[str] | None = None,
    say: Say = silent,
) -> SourceFiles:
    """Take the files from a folder in the released layout, where they stay.

    Args:
        only: As of `list_folder`.

    Raises:
        InputError: There is no such folder.
        ModelLoadError: A file is missing or is only the pointer to one.
        HubError: `strict` refuses a file that the catalogue knows otherwise.
        ResourceError: A file cannot be read.
    """
    wanted = list_folder(source, folder, only)
    say(f"Reading {', '.join(wanted)} in {folder}")
    digests = {name: _digest(folder / name) for name in wanted}
    unexpected = unexpected_files(source, digests, str(folder), strict=strict)
    if unexpected:
        say(used_all_the_same(unexpected, str(folder)))
    return SourceFiles(
        folder=folder.absolute(),
        origin=f"the folder {folder.absolute()}",
        repository="",
        revision="",
        digests=digests,
        unexpected=unexpected,
        is_ours=False,
    )


def _digest(path: Path) -> FileDigest:
    try:
        with path.open("rb") as file:
            if file.read(len(_LFS_POINTER)) == _LFS_POINTER:
                raise ModelLoadError(
                    f"{path} is a Git LFS pointer, not the file that it points to",
                    hint="Run `git lfs pull` in that folder",
                )
        return digest_of(path)
    except OSError as error:
        raise ResourceError(
            f"{path} cannot be read: {error.strerror}",
            hint="Give this user read access, or name a copy with --from DIR",
        ) from error


def unexpected_files(
    source: HubSource, digests: Mapping[str, FileDigest], origin: str, *, strict: bool
) -> Mapping[str, FileDigest]:
    """Give what the catalogue knows of each file that has another content.

    Raises:
        HubError: There are some, and `strict` is on.
    """
    found = {
        name: source.known[name]
        for name, digest in digests.items()
        if source.known.get(name, digest) != digest
    }
    if found and strict:
        raise refused_by_strict(found, origin)
    return found


def refused_by_strict(names: Iterable[str], origin: str) -> HubError:
    """Make the error for files that `hub.strict` keeps out."""
    return HubError(
        f"{', '.join(names)} in {origin}: not what CosyKit was made for",
        hint="hub.strict refuses it; without it, it is used and noted in the manifest",
    )


def replaced_since(names: Iterable[str], origin: str, model: str) -> HubError:
    """Make the error for files that are no longer those that a bundle was made of."""
    return HubError(
        f"{origin} no longer has the {', '.join(names)} that {model} was made from",
        hint=f"Run: cosykit models --remove {model} (saved voices go with it: cosykit "
        f"voices export keeps one), then: cosykit install {model}",
    )


def used_all_the_same(names: Iterable[str], origin: str) -> str:
    """Tell plainly that files have another content than the catalogue knows."""
    return (
        f"Not what CosyKit was made for, but used all the same and noted in the "
        f"manifest: {', '.join(names)} in {origin}"
    )
