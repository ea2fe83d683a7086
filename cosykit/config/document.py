"""Read a configuration file into plain values that know their lines.

Only plain YAML passes: scalars, lists and mappings. Anchors, aliases and tags are
refused, so a file can neither build objects nor unfold into more than it shows.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from cosykit.errors import ConfigError

MAX_SIZE_BYTES = 1 << 20
_TAG = "tag:yaml.org,2002:"
_NUMBER_TAGS = {_TAG + kind for kind in ("int", "float", "bool", "null")}
_TEXT_TAGS = {_TAG + kind for kind in ("str", "timestamp")}

_CONFLICT = re.compile("^<{7} ", re.MULTILINE)

REFUSED = object()
"""Stands in a document for a value that is among its problems."""

Steps = tuple[str | int, ...]
"""The way to a value: keys of mappings and indices of lists."""


@dataclass(frozen=True, slots=True)
class Document:
    """What a configuration file says.

    Attributes:
        path: Where the file is.
        root: Its keys and values; every key is text, as it is written.
        lines: The line of each value, counted from 1.
        problems: Line and message of each value that is not plain YAML.
    """

    path: Path
    root: dict[str, object] = field(default_factory=dict)
    lines: dict[Steps, int] = field(default_factory=dict)
    problems: list[tuple[int, str]] = field(default_factory=list)

    def line(self, steps: Steps) -> int:
        """Look up the line of a value, or of the nearest thing around it."""
        while steps and steps not in self.lines:
            steps = steps[:-1]
        return self.lines.get(steps, 1)


def read_document(path: Path) -> Document:
    """Read and parse a file.

    Raises:
        ConfigError: The file cannot be read, or is not UTF-8 or not YAML.
    """
    document = Document(path)
    yaml = YAML(typ="safe", pure=True)
    node = _compose(yaml, _read_text(path), path)
    if isinstance(node, MappingNode):
        document.root.update(_Reader(yaml, document).mapping(node, ()))
    elif node is not None and not _is_null(node):
        document.problems.append((1, "must hold `key: value` lines"))
    return document


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_SIZE_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"cannot read the configuration file {path}: {reason}",
            hint="Check the path and its permissions",
        ) from error
    if len(content) > MAX_SIZE_BYTES:
        raise ConfigError(
            f"the configuration file {path} is larger than 1 MiB",
            hint="Is it the right file?",
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path}:{line}: not valid UTF-8 at byte {error.start}",
            hint="Save the file as UTF-8",
        ) from error


def _compose(yaml: YAML, text: str, path: Path) -> Node | None:
    try:
        node: Node | None = yaml.compose(text)
    except YAMLError as error:
        if conflict := _CONFLICT.search(text):
            raise _unmerged(path, text.count("\n", 0, conflict.start()) + 1) from error
        line, problem = _explain(error, text)
        raise ConfigError(
            f"{path}:{line}: not valid YAML: {problem}",
            hint="Check indentation, colons and quotes around this line",
        ) from error
    except RecursionError as error:
        raise ConfigError(
            f"{path}: nested too deeply", hint="Settings are two levels deep"
        ) from error
    return node


def _unmerged(path: Path, line: int) -> ConfigError:
    return ConfigError(
        f"{path}:{line}: git left your changes beside those of an update here",
        hint=f"Keep one of both; after git pull --autostash yours come back by: "
        f"git checkout --theirs {path.name}",
    )


def _explain(error: YAMLError, text: str) -> tuple[int, str]:
    if isinstance(error, ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return line, f"the character U+{ord(text[error.position]):04X} is not allowed"
    if isinstance(error, MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        return (mark.line + 1 if mark else 1), str(error.problem or error.context)
    return 1, str(error).partition("\n")[0]


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and str(node.tag) == _TAG + "null"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns nodes into plain values, noting lines and problems in a document."""

    yaml: YAML
    document: Document

    def mapping(self, node: MappingNode, steps: Steps) -> dict[str, object]:
        values: dict[str, object] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                self._refuse(key, "a key must be a plain word")
                continue
            inner = (*steps, str(key.value))
            if key.value in values:
                first = self.document.lines[inner]
                self._refuse(key, f"{dotted(inner)} is already set on line {first}")
                continue
            self.document.lines[inner] = _line(key)
            values[key.value] = self._value(value, inner)
        return values

    def _value(self, node: Node, steps: Steps) -> object:
        if node.anchor:
            self._refuse(node, f"{dotted(steps)} uses an anchor (&), write it out")
        elif isinstance(node, MappingNode):
            return self.mapping(node, steps)
        elif isinstance(node, SequenceNode):
            return self._list(node, steps)
        elif str(node.tag) in _TEXT_TAGS:
            return str(node.value)
        elif str(node.tag) in _NUMBER_TAGS:
            return self._number(node, steps)
        else:
            self._refuse(node, f"{dotted(steps)} uses a tag (!), write a plain value")
        return REFUSED

    def _list(self, node: SequenceNode, steps: Steps) -> list[object]:
        items = []
        for index, item in enumerate(node.value):
            self.document.lines[*steps, index] = _line(item)
            items.append(self._value(item, (*steps, index)))
        return items

    def _number(self, node: Node, steps: Steps) -> object:
        try:
            number: object = self.yaml.constructor.construct_object(node)
        except ValueError:  # `!!int abc`, or thousands of digits
            self._refuse(node, f"{dotted(steps)} is not a number that can be read")
            return REFUSED
        return number

    def _refuse(self, node: Node, message: str) -> None:
        self.document.problems.append((_line(node), message))


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def dotted(steps: Steps) -> str:
    """Spell the way to a value, such as `server.api_keys[0]`."""
    parts = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps]
    return "".join(parts).removeprefix(".")
