"""Let one process at a time change a bundle."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cosykit.hub.atomic import sweep, translate_os_error
from cosykit.hub.progress import Say, silent


@contextmanager
def install_lock(models_dir: Path, model: str, say: Say = silent) -> Iterator[None]:
    """Hold the lock of a model; the system frees it when the process dies.

    Waits for an install in another process, and says so. What a process that died with
    the lock was writing is swept away, and so is what ours was when it is left: a
    signal may come between a file and its removal.

    Raises:
        ResourceError: The models folder cannot be written.
    """
    path = models_dir / f".{model}.lock"
    try:
        models_dir.mkdir(parents=True, exist_ok=True)
        handle = path.open("a")
    except OSError as error:
        raise translate_os_error(error, path) from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"Waiting for another process that installs {model} ...")
            fcntl.flock(handle, fcntl.LOCK_EX)
        sweep(models_dir / model)
        try:
            yield
        finally:
            sweep(models_dir / model)
