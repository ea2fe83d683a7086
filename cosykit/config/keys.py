"""The dotted names of the settings, and the nearest right name to a wrong one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from pydantic.fields import FieldInfo

from cosykit.config.schema import Section, Settings


@dataclass(frozen=True, slots=True)
class Key:
    """One setting.

    Attributes:
        dotted: Its name, such as `server.port`.
        section: Name of its section; empty at the top level.
        name: Its name within the section.
        owner: The model that validates it.
        field: Its default and description.
    """

    dotted: str
    section: str
    name: str
    owner: type[Section]
    field: FieldInfo

    @property
    def variable(self) -> str:
        """Its environment variable, such as `COSYKIT_SERVER_PORT`."""
        return "COSYKIT_" + self.dotted.replace(".", "_").upper()

    @property
    def default(self) -> object:
        """Its default value."""
        default: object = self.field.get_default(call_default_factory=True)
        return default


@cache
def all_keys() -> Mapping[str, Key]:
    """Map every dotted name to its key, in the order of the schema."""
    keys = {}
    for name, field in Settings.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, Section):
            for inner, inner_field in section.model_fields.items():
                dotted = f"{name}.{inner}"
                keys[dotted] = Key(dotted, name, inner, section, inner_field)
        else:
            keys[name] = Key(name, "", name, Settings, field)
    return keys


@cache
def sections() -> frozenset[str]:
    """Name the sections."""
    return frozenset(key.section for key in all_keys().values() if key.section)


def value_of(settings: Settings, key: Key) -> object:
    """Look up a setting."""
    owner: object = getattr(settings, key.section) if key.section else settings
    value: object = getattr(owner, key.name)
    return value


def nearest_key(wrong: str) -> str | None:
    """Find the setting or section that a wrong dotted name was meant to be."""
    last = wrong.rpartition(".")[2]
    namesakes = [key.dotted for key in all_keys().values() if key.name == last]
    if namesakes:
        return nearest(wrong, namesakes, cutoff=0)
    return nearest(wrong, [*all_keys(), *sections()])


def nearest(wrong: str, right: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Find the most similar of the right words, if one is similar at all."""
    matches = get_close_matches(wrong, list(right), n=1, cutoff=cutoff)
    return matches[0] if matches else None
