"""The folder that a bundle is built in, and how that takes the place of what was there.

    models/<model id>/.building/   files at the paths that they will have in the bundle,
                                   and, once all are there, its manifest

Files that are sealed by a manifest move to their places, the manifest last. A process
that was killed before that has changed nothing; one that was killed while it moved them
has left them to the next call of `settle`, which moves the rest.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cosykit.hub.atomic import os_errors_of, sync
from cosykit.hub.bundle import MANIFEST

_NAME = ".building"

Standing = tuple[bytes, int]
"""The manifest of a bundle, and how many files have yet to take their places."""

NOTHING: Standing = (b"", 0)


@contextmanager
def building_in(folder: Path) -> Iterator[Path]:
    """Give an empty folder to build in; what it holds counts once it is sealed.

    Raises:
        ResourceError: No space, no permission, or the disk fails.
    """
    building = folder / _NAME
    try:
        with os_errors_of(building):
            building.mkdir(parents=True)
            yield building
            settle(folder)
    finally:
        if not (building / MANIFEST).exists():
            shutil.rmtree(building, ignore_errors=True)
            with suppress(OSError):  # it holds a model that was there before
                folder.rmdir()


def settle(folder: Path) -> None:
    """Finish what is sealed, and delete what is not.

    Raises:
        ResourceError: A file cannot be moved or deleted.
    """
    building = folder / _NAME
    with os_errors_of(folder):
        if (building / MANIFEST).is_file():
            _move_all(building, folder)
        if building.exists():
            shutil.rmtree(building)
        for temporary in folder.rglob(".*.tmp"):
            temporary.unlink()


def standing(folder: Path) -> Standing:
    """Tell one state of a bundle from another, without reading its files.

    What cannot be read is as nothing: whoever opens it says why.
    """
    building = folder / _NAME
    try:
        content = (folder / MANIFEST).read_bytes()
        is_sealed = (building / MANIFEST).is_file()
        # Each that moves to its place is one less.
        return content, len([*building.rglob("*")]) if is_sealed else 0
    except OSError:
        return NOTHING


def _move_all(building: Path, folder: Path) -> None:
    paths = [path for path in building.rglob("*") if path.is_file()]
    paths.remove(building / MANIFEST)
    targets = {path: folder / path.relative_to(building) for path in paths}
    for path, target in targets.items():
        _move(path, target)
    for parent in {target.parent for target in targets.values()}:
        sync(parent)
    _move(building / MANIFEST, folder / MANIFEST)
    sync(folder)


def _move(path: Path, target: Path) -> None:
    with os_errors_of(target):  # told with the place, where something may be in the way
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
