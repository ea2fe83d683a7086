"""Change values of a configuration file, and leave all else of it as it was."""

import io
from collections.abc import Mapping
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError

from cosykit.errors import ConfigError, ResourceError


def amend(path: Path, values: Mapping[str, str | int | float | bool]) -> str:
    """Give the text of a configuration file with some values changed.

    Comments, order and spelling of the rest survive; sections that are missing are
    added.

    Args:
        path: The file; one that is not there counts as empty.
        values: By dotted name.

    Raises:
        ConfigError: The file is no YAML mapping.
        ResourceError: It cannot be read.
    """
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 10_000  # longer lines would be folded
    root = _read(yaml, path)
    for name, value in values.items():
        section, _, key = name.rpartition(".")
        into = root
        if section:
            if not isinstance(root.get(section), CommentedMap):
                root[section] = CommentedMap()
            into = root[section]
        into[key] = value
    written = io.StringIO()
    yaml.dump(root, written)
    return written.getvalue()


def _read(yaml: YAML, path: Path) -> CommentedMap:
    try:
        root = yaml.load(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return CommentedMap()
    except OSError as error:
        raise ResourceError(
            f"cannot read {path}: {error.strerror}", hint="Check its permissions"
        ) from error
    except (YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} is not valid YAML", hint="See: cosykit config"
        ) from error
    if root is None:
        return CommentedMap()
    if not isinstance(root, CommentedMap):
        raise ConfigError(
            f"{path} is no list of `key: value` lines", hint="See: cosykit config"
        )
    return root
