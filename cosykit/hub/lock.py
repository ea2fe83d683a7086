"""Let one process at a time change a bundle."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cosykit.errors import BusyError
from cosykit.hub.atomic import translate_os_error


@contextmanager
def install_lock(models_dir: Path, model: str, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock of a model; the system frees it when the process dies.

    Args:
        wait: Whether to wait for another install to end, or to refuse at once.

    Raises:
        BusyError: Another process installs the model and `wait` is off.
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
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError as error:
            raise BusyError(
                f"{model} is being installed by another process",
                hint="Wait for it to end, then try again",
            ) from error
        yield
