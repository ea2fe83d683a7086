"""Write files so that a killed process leaves the old one or the new one."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from cosykit.errors import ResourceError


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a temporary path beside the target that takes its place on success.

    On any exception the temporary file is removed and the target stays as it was.

    Raises:
        ResourceError: The folder cannot be written or the disk is full.
    """
    with os_errors_of(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{uuid4().hex}.tmp")
    try:
        with os_errors_of(target):
            yield temporary
            sync(temporary)
            temporary.replace(target)
            sync(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Delete what processes that were killed left of `replacing`, anywhere below.

    The caller sees to it that nobody writes there.
    """
    for left in folder.rglob(".*.tmp"):
        with suppress(OSError):  # the next one may have more luck
            left.unlink()


def delete_folder(folder: Path) -> None:
    """Delete a folder of ours; of a link to a folder, what it leads to stays.

    Raises:
        ResourceError: A file cannot be deleted.
    """
    with os_errors_of(folder):
        if folder.is_symlink():
            folder.unlink()
        elif folder.exists():
            shutil.rmtree(folder)


def sync(path: Path) -> None:
    """Have a file, or the entries of a folder, on the disk when this returns."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def os_errors_of(path: Path) -> Iterator[None]:
    """Translate what the system raises inside, unless that was done already.

    Raises:
        ResourceError: The system failed, most likely at that path.
    """
    try:
        yield
    except ResourceError:
        raise
    except OSError as error:
        raise translate_os_error(error, path) from error


def translate_os_error(error: OSError, path: Path) -> ResourceError:
    """Say what a failed write means and what to do about it."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return ResourceError(
            f"no space is left for {path}",
            hint="Free some disk space, or set models_dir to another disk",
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return ResourceError(
            f"{path} cannot be written: {error.strerror}",
            hint="Give this user write access, or set models_dir to another folder",
        )
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return ResourceError(
            f"{path} cannot be written: a file is in the way of a folder",
            hint="Move that file, or set models_dir to another folder",
        )
    return ResourceError(
        f"{path} cannot be written: {error.strerror or error}",
        hint="Move what is in its way, look at the limits of this user (ulimit -a), or "
        "set models_dir to another folder",
    )
