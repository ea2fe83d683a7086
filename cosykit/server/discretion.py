"""Tell clients of failures, but not where files lie on the server."""

import re
from copy import copy
from pathlib import Path

from cosykit.errors import CosykitError

# The folders before the name of a file; addresses of the web have none.
_FOLDERS = re.compile(r"(?<![\w:/.~-])/(?:[^\s/:;,'\"()]+/)+")


def without_folders(text: str, models_dir: Path) -> str:
    """Shorten the paths of files to those in the models folder, or to their names."""
    return _FOLDERS.sub("", text.replace(f"{models_dir}/", ""))


def discreet(error: CosykitError, models_dir: Path) -> CosykitError:
    """Copy an error for a client; the log has the whole of it.

    Whoever is told an error may change it, and hangs its own frames onto it.
    """
    told = copy(error)
    told.message = without_folders(error.message, models_dir)
    told.hint = without_folders(error.hint, models_dir)
    return told
