"""Make sure that there is room on the disk before it is needed."""

import shutil
from pathlib import Path

from cosykit.errors import ResourceError
from cosykit.hub.atomic import translate_os_error


def require_space(folder: Path, needed_bytes: int, purpose: str) -> None:
    """Check the free space of a folder, which is made if it is not there.

    Args:
        purpose: What needs the space, such as a model's id.

    Raises:
        ResourceError: There is less, or the folder cannot be used.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free_bytes = shutil.disk_usage(folder).free
    except OSError as error:
        raise translate_os_error(error, folder) from error
    if free_bytes < needed_bytes:
        raise ResourceError(
            f"{purpose} needs {_megabytes(needed_bytes)} in {folder}, "
            f"{_megabytes(free_bytes)} are free",
            hint="Free some disk space, or set models_dir to another disk",
        )


def _megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.0f} MB"
