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

from cosykit.errors import ResourceError
from cosykit.hub.atomic import sync, translate_os_error
from cosykit.hub.bundle import MANIFEST

_NAME = ".building"


@contextmanager
def building_in(folder: Path) -> Iterator[Path]:
    """Give an empty folder to build in; what it holds counts once it is sealed.

    Raises:
        ResourceError: No space, no permission, or the disk fails.
    """
    building = folder / _NAME
    try:
        building.mkdir(parents=True)
        yield building
        settle(folder)
    except OSError as error:
        if isinstance(error, ResourceError):
            raise
        raise translate_os_error(error, building) from error
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
    try:
        if (building / MANIFEST).is_file():
            _move_all(building, folder)
        if building.exists():
            shutil.rmtree(building)
        for temporary in folder.rglob(".*.tmp"):
            temporary.unlink()
    except OSError as error:
        if isinstance(error, ResourceError):
            raise
        raise translate_os_error(error, folder) from error


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
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
    except OSError as error:  # told with the place that something may be in the way of
        raise translate_os_error(error, target) from error
