"""Read the facts of a model from its HyperPyYAML file, and run nothing of it.

    facts = read_facts(Path("cosyvoice.yaml"))
    facts.section("llm", "text_encoder").integer("num_blocks")

The official files name Python classes to build (`!new:`), functions to hand on
(`!name:`) and to call (`!apply:`), and refer to other keys (`!ref <sample_rate>`). This
reader looks at the numbers and strings below such tags and follows the references.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from cosykit.errors import ModelLoadError

_REFERENCE_TAG = "!ref"
_CLASS_TAG = "!new:"
_REFERENCE = re.compile(r"<(\w+)>")
# Descriptions have a few kB. 100 kB take the parser up to 1.4 s, 800 kB over 25 s.
_LONGEST_BYTES = 100_000
# What could not be read may be quoted in full by the parser.
_LONGEST_REASON = 200
# More references in a row than this are a circle.
_LONGEST_CHAIN = 20
# No dimension of a model is larger, and no list of them longer.
_GREATEST = 1_000_000
_LONGEST_LIST = 20


@dataclass(frozen=True, slots=True)
class Facts:
    """A mapping of the file, asked for facts by name.

    Every question raises a `ModelLoadError` when its fact is missing or of another
    kind.
    """

    root: MappingNode
    node: MappingNode
    place: str

    @property
    def class_name(self) -> str:
        """The class that upstream would build from this mapping, without its module."""
        return str(self.node.tag).removeprefix(_CLASS_TAG).rpartition(".")[2]

    def section(self, *names: str) -> "Facts":
        """Descend into mappings."""
        facts = self
        for name in names:
            node = facts._find(name)
            if not isinstance(node, MappingNode):
                raise facts.wrong(name, "no mapping")
            facts = Facts(self.root, node, f"{facts.place}{name}.")
        return facts

    def integer(self, name: str, most: int = _GREATEST) -> int:
        """Give a whole number from 1 to the most that makes sense."""
        return self._whole(name, self._find(name), most)

    def number(self, name: str) -> float:
        """Give a number that is not negative."""
        try:
            number = float(self.text(name))
        except ValueError:
            raise self.wrong(name, "no number") from None
        if not 0 <= number <= _GREATEST:
            raise self.wrong(name, f"no number from 0 to {_GREATEST}")
        return number

    def text(self, name: str) -> str:
        """Give a scalar as it is written."""
        node = self._find(name)
        if not isinstance(node, ScalarNode):
            raise self.wrong(name, "no scalar")
        return str(node.value)

    def integers(self, name: str) -> Sequence[int]:
        """Give a sequence of whole numbers, of which none is less than 1."""
        return self._wholes(name, self._find(name))

    def rows(self, name: str) -> Sequence[Sequence[int]]:
        """Give a sequence of such sequences."""
        rows = self._items(name, self._find(name))
        return tuple(self._wholes(name, row) for row in rows)

    def _wholes(self, name: str, node: Node) -> Sequence[int]:
        return tuple(self._whole(name, item) for item in self._items(name, node))

    def _items(self, name: str, node: Node) -> Sequence[Node]:
        if not isinstance(node, SequenceNode):
            raise self.wrong(name, "no sequence")
        if not 0 < len(node.value) <= _LONGEST_LIST:
            raise self.wrong(name, f"no sequence of 1 to {_LONGEST_LIST} items")
        return tuple(self._followed(item) for item in node.value)

    def _whole(self, name: str, node: Node, most: int = _GREATEST) -> int:
        try:
            number = int(node.value)
        except (TypeError, ValueError):
            raise self.wrong(name, "no whole number") from None
        if not 1 <= number <= most:
            raise self.wrong(name, f"no whole number from 1 to {most}")
        return number

    def _find(self, name: str) -> Node:
        return self._followed(self._child(self.node, name))

    def _followed(self, node: Node) -> Node:
        for _ in range(_LONGEST_CHAIN):
            if str(node.tag) != _REFERENCE_TAG:
                return node
            named = _REFERENCE.fullmatch(str(node.value).strip())
            if named is None:
                raise _unreadable(f"{node.value} is no plain reference")
            node = self._child(self.root, named[1])
        raise _unreadable(f"{node.value} refers to itself")

    def _child(self, parent: MappingNode, name: str) -> Node:
        found = [child for key, child in parent.value if key.value == name]
        if len(found) == 1 and isinstance(found[0], Node):
            return found[0]
        place = "" if parent is self.root else self.place
        fault = "there more than once" if found else "missing"
        raise _unreadable(f"{place}{name} is {fault}")

    def wrong(self, name: str, fault: str) -> ModelLoadError:
        """Make the error for a fact that cannot be."""
        return _unreadable(f"{self.place}{name} is {fault}")


def read_facts(path: Path) -> Facts:
    """Read a HyperPyYAML file.

    Raises:
        ModelLoadError: The file is missing, too large, or not YAML.
    """
    try:
        if path.stat().st_size > _LONGEST_BYTES:
            raise _unreadable(f"{path.name} has more than {_LONGEST_BYTES} bytes")
        root = YAML(typ="safe", pure=True).compose(path.read_text(encoding="utf-8"))
    except MarkedYAMLError as error:
        place = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise _unreadable(f"{path.name}: {place}{error.problem}") from error
    except (OSError, UnicodeDecodeError, YAMLError, RecursionError) as error:
        raise _unreadable(f"{path.name}: {error}") from error
    if not isinstance(root, MappingNode):
        raise _unreadable(f"{path.name} holds no mapping")
    return Facts(root, root, "")


def _unreadable(reason: str) -> ModelLoadError:
    line = "".join(c if c.isprintable() else " " for c in reason[:_LONGEST_REASON])
    return ModelLoadError(
        f"the model's description cannot be used: {line}",
        hint="Take the file from its source again",
    )
