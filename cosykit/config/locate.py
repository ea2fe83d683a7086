"""Find the configuration file and the folders of the user.

The first of these is read: the file of `--config`, that of `COSYKIT_CONFIG`,
`cosykit.yaml` in the current folder, in the clone that CosyKit runs from, and in
`$XDG_CONFIG_HOME/cosykit` (`~/.config/cosykit`).
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from cosykit.errors import ConfigError

FILE_NAME = "cosykit.yaml"


def find_file(path: Path | None, environ: Mapping[str, str]) -> Path | None:
    """Find the configuration file; None when there is none to find.

    Raises:
        ConfigError: A file that was asked for does not exist.
    """
    if path is not None:
        return _existing(path, "--config")
    if named := environ.get("COSYKIT_CONFIG"):
        return _existing(Path(named), "COSYKIT_CONFIG")
    for folder in (Path.cwd(), clone_root(), config_folder(environ)):
        if folder and _is_file(folder / FILE_NAME):
            return folder / FILE_NAME
    return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False  # a folder that is closed to us holds no file of ours


def clone_root() -> Path:
    """Name the folder that holds the package: the root of a clone."""
    return Path(__file__).resolve().parents[2]


def config_folder(environ: Mapping[str, str]) -> Path | None:
    """Name the user's folder for configuration; None for a user without a home."""
    return _xdg(environ, "XDG_CONFIG_HOME", ".config")


def data_folder(environ: Mapping[str, str]) -> Path:
    """Name the folder that holds the models where nothing says otherwise.

    It is that of the clone, or the user's. A configuration file elsewhere does not
    change it: whoever begins one would else lose sight of the models.

    Raises:
        ConfigError: The user has no home.
    """
    if _is_file(clone_root() / FILE_NAME):
        return clone_root()
    folder = _xdg(environ, "XDG_DATA_HOME", ".local/share")
    if folder is None:
        raise ConfigError(
            "this user has no home folder for models",
            hint="Set HOME, or name a folder with --models-dir or COSYKIT_MODELS_DIR",
        )
    return folder


def _xdg(environ: Mapping[str, str], variable: str, fallback: str) -> Path | None:
    named = Path(environ.get(variable, ""))
    # The XDG specification has relative paths ignored.
    if named.is_absolute():
        return named / "cosykit"
    try:
        home = Path(environ.get("HOME") or Path.home())
    except RuntimeError:  # nor is there one in the list of users
        return None
    return home / fallback / "cosykit"


def _existing(path: Path, source: str) -> Path:
    with suppress(RuntimeError):  # `~nobody` is reported as missing below
        path = path.expanduser()
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ConfigError(
            f"the configuration file {path} of {source} does not exist",
            hint="Check the path, or leave it out to use the defaults",
        ) from error
    except (OSError, ValueError):
        pass  # whoever reads it will tell why that cannot be done
    return path
