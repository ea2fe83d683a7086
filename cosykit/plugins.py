"""Find engines, text front ends and vocoders through entry points, of all alike.

A plug-in is a callable that opens the thing: for `cosykit.engines` it takes a model id
and the `Settings` and gives an `Engine`, for `cosykit.text_frontends` it takes the
`TextSettings` and gives a `TextFrontend`, for `cosykit.vocoders` it takes a model id
and the `Settings` and gives a `Vocoder`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Literal, get_args

from cosykit.errors import PluginError, quoted

Group = Literal["cosykit.engines", "cosykit.text_frontends", "cosykit.vocoders"]
GROUPS: tuple[Group, ...] = get_args(Group)


@dataclass(frozen=True, slots=True)
class PluginReport:
    """How a plug-in stands, for `doctor`.

    Attributes:
        origin: Distribution and import path that provide it.
        problem: Why it cannot be used; empty when it can.
    """

    group: Group
    name: str
    origin: str
    problem: str = ""


def plugin_names(group: Group) -> tuple[str, ...]:
    """List the names of a group without importing anything."""
    return tuple(sorted({point.name for point in entry_points(group=group)}))


def load_plugin(group: Group, name: str) -> Callable[..., object]:
    """Import a plug-in by name.

    Raises:
        PluginError: No plug-in or two of that name, or its import fails.
    """
    points = [point for point in entry_points(group=group) if point.name == name]
    if not points:
        known = ", ".join(plugin_names(group)) or "none"
        raise PluginError(
            f"there is no plug-in {quoted(name)} in {group}",
            hint=f"Installed ones: {known}",
        )
    if len(points) > 1:
        origins = " and ".join(_origin(point) for point in points)
        raise PluginError(
            f"two plug-ins in {group} share the name {quoted(name)}: {origins}",
            hint="Uninstall one of them",
        )
    return _import(group, points[0])


def misfit(subject: str, opened: object, wanted: str) -> PluginError:
    """Word the error for a plug-in that opened something else.

    Args:
        subject: What was to be opened, such as `vocoder 'hift'`.
        wanted: What its entry point has to return an object with.
    """
    return PluginError(
        f"{subject} gave a {type(opened).__name__}",
        hint=f"Its entry point has to return an object with {wanted}",
    )


def _import(group: Group, point: EntryPoint) -> Callable[..., object]:
    # A plug-in is foreign code: whatever its import raises is its failure, not ours.
    try:
        loaded: object = point.load()
    except Exception as error:
        raise PluginError(
            f"plug-in {point.name!r} of {group} cannot be imported: {error!r}",
            hint=f"Reinstall or uninstall {_origin(point)}",
        ) from error
    if not callable(loaded):
        raise PluginError(
            f"plug-in {point.name!r} of {group} is not callable",
            hint=f"Its entry point {point.value!r} has to name a function",
        )
    return loaded


def inspect_plugins() -> Sequence[PluginReport]:
    """Try every plug-in of every group and say which cannot be used and why."""
    return [
        _inspect(group, point) for group in GROUPS for point in _sorted_points(group)
    ]


def _sorted_points(group: Group) -> Sequence[EntryPoint]:
    return sorted(entry_points(group=group), key=lambda point: point.name)


def _inspect(group: Group, point: EntryPoint) -> PluginReport:
    try:
        load_plugin(group, point.name)
    except PluginError as error:
        return PluginReport(group, point.name, _origin(point), error.message)
    return PluginReport(group, point.name, _origin(point))


def _origin(point: EntryPoint) -> str:
    distribution = point.dist.name if point.dist else "an unknown distribution"
    return f"{distribution} ({point.value})"
