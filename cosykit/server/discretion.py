"""Word failures: for clients without places of files, for logs without their words."""

import re
from copy import copy
from pathlib import Path

from cosykit.errors import CosykitError, InputError, UnknownFieldError

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


def without_words(error: CosykitError) -> str:
    """Word an error for the log: where it is a client's, by its kind and its field."""
    if not isinstance(error, InputError):
        return error.message
    if error.param is None or isinstance(error, UnknownFieldError):
        return error.code
    return f"{error.code} ({error.param})"
