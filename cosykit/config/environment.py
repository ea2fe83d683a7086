"""Read the `COSYKIT_*` environment variables.

A variable is the dotted name of a setting in capitals: `COSYKIT_SERVER_PORT` sets
`server.port`. Lists are separated by commas; pronunciations are written `word=reading`.
An empty variable counts as not set, but that of a list with entries by default, such as
`COSYKIT_ENGINE_FALLBACK`, empties the list.
"""

from collections.abc import Iterator, Mapping

from cosykit.config.keys import Key, all_keys, nearest

RESERVED = frozenset(
    {"COSYKIT_COMMAND", "COSYKIT_CONFIG", "COSYKIT_DEBUG", "COSYKIT_VENV"}
)
"""Variables that are not settings: what the command is called, the file to read,
tracebacks, where to install."""
_PAIRS = "word=reading, such as 重庆=chong2 qing4,SQL=sequel"


def read_environment(
    environ: Mapping[str, str],
) -> tuple[list[tuple[Key, object]], list[str]]:
    """Collect the settings of the environment.

    Returns:
        The settings with their unvalidated values, and a message for each variable
        that is no setting, or is written as in a file.
    """
    keys = {key.variable: key for key in all_keys().values()}
    values: list[tuple[Key, object]] = []
    problems = []
    for variable, text in _ours(environ):
        key = keys.get(variable)
        if not (text or (key and _can_be_emptied(key))):
            continue
        if key is None:
            likely = nearest(variable, [*keys, *RESERVED], cutoff=0.7)
            advice = f", did you mean {likely}?" if likely else ""
            problems.append(f"environment: there is no {variable}{advice}")
        elif isinstance(key.default, dict) and any("=" not in p for p in _parts(text)):
            problems.append(f"{variable}: {key.dotted} must be written as {_PAIRS}")
        else:
            values.append((key, _split(key, text)))
    return values, problems


def _ours(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for variable, text in sorted(environ.items()):
        if variable.startswith("COSYKIT_") and variable not in RESERVED:
            yield variable, text


def _can_be_emptied(key: Key) -> bool:
    """Tell lists that are of use to empty; an empty one of keys would open a server."""
    return isinstance(key.default, tuple) and bool(key.default)


def _split(key: Key, text: str) -> object:
    if isinstance(key.default, tuple):
        return tuple(_parts(text))
    if isinstance(key.default, dict):
        pairs = (part.partition("=") for part in _parts(text))
        return {word.strip(): reading.strip() for word, _, reading in pairs}
    return text


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
