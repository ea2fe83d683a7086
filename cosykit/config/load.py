"""Join flags, environment, file and defaults into one validated configuration.

A flag wins over the `COSYKIT_*` environment, that over the file, that over the default.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Literal, Union, get_origin

from pydantic import ValidationError

from cosykit.config.document import REFUSED, Document, Steps, dotted, read_document
from cosykit.config.environment import read_environment
from cosykit.config.keys import Key, all_keys, nearest_key, sections
from cosykit.config.locate import data_folder, find_file
from cosykit.config.schema import Settings
from cosykit.errors import ConfigError

Override = str | int | float | bool | Path | None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value came from.

    Attributes:
        kind: Which of the four layers set it.
        place: `file:line`, the name of the variable, or empty.
    """

    kind: Literal["default", "file", "environment", "flag"]
    place: str = ""

    def __str__(self) -> str:
        return self.place or self.kind


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The configuration in force.

    Attributes:
        settings: The values.
        file: The file that was read, if there is one.
        origins: Where each value came from, by dotted name.
    """

    settings: Settings
    file: Path | None
    origins: Mapping[str, Origin]


@dataclass(frozen=True, slots=True)
class _Given:
    """A value that somebody wrote, not yet validated."""

    value: object
    origin: Origin
    document: Document | None = None

    def place(self, steps: Steps) -> str:
        """Say where a part of the value was written."""
        if self.document is None:
            return self.origin.place or "command line"
        return f"{self.document.path}:{self.document.line(steps)}"


def load_settings(
    path: Path | None = None,
    overrides: Mapping[str, Override] | None = None,
    environ: Mapping[str, str] | None = None,
) -> LoadedSettings:
    """Load the configuration.

    Args:
        path: The file to read; None looks for one (see `find_file`).
        overrides: Flags, by dotted name; one that is None was not given.
        environ: The environment; None takes the one of this process.

    Raises:
        ConfigError: A value cannot be used; all such values are named at once.
    """
    environ = os.environ if environ is None else environ
    file = find_file(path, environ)
    problems: list[str] = []
    given = [
        *(_from_file(read_document(file), problems) if file else ()),
        *_from_environment(environ, problems),
        *_from_flags(overrides or {}, problems),
    ]
    # A value that a higher layer replaces is checked all the same.
    values = {name: _validate(name, one, problems) for name, one in given}
    if problems:
        raise _all_in_one(problems)
    origins = {name: Origin("default") for name in all_keys()}
    origins.update({name: one.origin for name, one in given})
    values["models_dir"] = _models_dir(values, origins, file, environ)
    return LoadedSettings(_assemble(values), file, origins)


def _from_file(document: Document, problems: list[str]) -> Iterator[tuple[str, _Given]]:
    problems += [f"{document.path}:{line}: {text}" for line, text in document.problems]
    for steps, value in _leaves(document.root):
        if value is REFUSED:
            continue
        place = f"{document.path}:{document.line(steps)}"
        name = dotted(steps)
        if name in sections():
            problems.append(f"{place}: {name} is a section, put its keys below it")
        elif len(steps) == 1 and "." in name and name in all_keys():
            section, _, key = name.partition(".")
            problems.append(f"{place}: write {name} as {key} below `{section}:`")
        elif name not in all_keys():
            problems.append(f"{place}: {_unknown(name)}")
        else:
            yield name, _Given(value, Origin("file", place), document)


def _leaves(root: Mapping[str, object]) -> Iterator[tuple[Steps, object]]:
    """List what stands at the top level and directly in the sections."""
    for name, value in root.items():
        if name in sections() and isinstance(value, dict):
            yield from (((name, inner), leaf) for inner, leaf in value.items())
        elif name not in sections() or value is not None:
            yield (name,), value


def _from_environment(
    environ: Mapping[str, str], problems: list[str]
) -> Iterator[tuple[str, _Given]]:
    values, unknown = read_environment(environ)
    problems += unknown
    for key, value in values:
        yield key.dotted, _Given(value, Origin("environment", key.variable))


def _from_flags(
    overrides: Mapping[str, Override], problems: list[str]
) -> Iterator[tuple[str, _Given]]:
    for name, value in overrides.items():
        if name not in all_keys():
            problems.append(f"command line: {_unknown(name)}")
        elif value is not None:
            yield name, _Given(value, Origin("flag"))


def _unknown(name: str) -> str:
    nearest = nearest_key(name)
    advice = f", did you mean {nearest}?" if nearest else ""
    return f"there is no setting {name}{advice}"


def _validate(name: str, given: _Given, problems: list[str]) -> object:
    key = all_keys()[name]
    # A file has types of its own; everything from outside arrives as text.
    strict = None if given.document else False
    try:
        owner = key.owner.model_validate({key.name: given.value}, strict=strict)
    except ValidationError as error:
        outer: Steps = (key.section,) if key.section else ()
        for place, message, wrong in _details(key, error):
            steps = (*outer, *place)
            shown = _with_value(key, message, wrong)
            problems.append(f"{given.place(steps)}: {dotted(steps)} {shown}")
        return None
    value: object = getattr(owner, key.name)
    return value


def _details(key: Key, error: ValidationError) -> Sequence[tuple[Steps, str, object]]:
    """List what is wrong: where, in our words, and the value."""
    found = [
        (detail["loc"], _in_our_words(detail["type"], detail["msg"]), detail["input"])
        for detail in error.errors(include_url=False, include_context=False)
    ]
    if get_origin(key.field.annotation) not in (Union, UnionType):
        return found
    # One for each kind of value that it might have been.
    kinds = [message.removeprefix("must be ") for _, message, _ in found]
    return [((key.name,), f"must be {' or '.join(kinds)}", found[0][2])]


def _in_our_words(kind: str, message: str) -> str:
    if kind == "extra_forbidden":
        return "is unknown"
    for tail in (", unable to", " for <class"):
        message = message.partition(tail)[0]
    for opening, ours in (
        ("Input should be a valid tuple", "must be a list"),
        ("Input should be ", "must be "),
        ("Input should have ", "must have "),
        ("String should ", "must "),
        ("Value error, ", ""),
        ("Field required", "is missing"),
        ("Input ", ""),
    ):
        if message.startswith(opening):
            return ours + message.removeprefix(opening)
    return message


def _with_value(key: Key, message: str, value: object) -> str:
    if key.name in ("api_keys", "redis_url") or isinstance(value, dict | list | tuple):
        return message
    return f"{message}, not {_show(value)}"


def _show(value: object) -> str:
    if value is None:
        return "empty"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _all_in_one(problems: list[str]) -> ConfigError:
    hint = "cosykit.yaml in the project's root documents every setting"
    if len(problems) == 1:
        return ConfigError(problems[0], hint=hint)
    listed = "\n  ".join(problems)
    return ConfigError(
        f"{len(problems)} settings cannot be used:\n  {listed}", hint=hint
    )


def _models_dir(
    values: Mapping[str, object],
    origins: Mapping[str, Origin],
    file: Path | None,
    environ: Mapping[str, str],
) -> Path:
    default = all_keys()["models_dir"].default
    named = str(values.get("models_dir", default))
    try:
        folder = Path(named).expanduser()
    except RuntimeError as error:
        place = origins["models_dir"].place or "command line"
        raise ConfigError(
            f"{place}: models_dir begins with a home that nobody has, {_show(named)}",
            hint="Write the whole path of the folder",
        ) from error
    match origins["models_dir"].kind:
        case "default":
            return data_folder(environ).absolute() / folder
        case "file":
            assert file
            return file.parent.absolute() / folder
        case "environment" | "flag":
            return Path.cwd() / folder


def _assemble(values: Mapping[str, object]) -> Settings:
    nested: dict[str, object] = {}
    for section in sections():
        prefix = f"{section}."
        nested[section] = {
            name.removeprefix(prefix): value
            for name, value in values.items()
            if name.startswith(prefix)
        }
    nested.update({name: value for name, value in values.items() if "." not in name})
    return Settings.model_validate(nested)
