"""Install in a child process, so that it costs a process that speaks no memory."""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

# How the command line tells a failure.
_TOLD = re.compile(r"^error: (?P<message>.*)(?:\n +(?P<hint>.*))?", re.MULTILINE)
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ToldFailure:
    """What a child had to say of its failure."""

    message: str
    hint: str


def install_command(model: str, models_dir: Path, *options: str) -> tuple[str, ...]:
    """Give the command that installs a model."""
    command = (sys.executable, "-m", "cosykit", "install", model, *options)
    return (*command, "--models-dir", str(models_dir))


def install_environment(settings: Mapping[str, str] = _NOTHING) -> dict[str, str]:
    """Give the environment of a child, with settings by their variables.

    Ours are known to be right; it need not look for a configuration file.
    """
    return {**os.environ, "COSYKIT_CONFIG": os.devnull, **settings}


def told_failure(stderr: str) -> ToldFailure | None:
    """Find what a child told of its failure; None where it was ended without a word."""
    told = list(_TOLD.finditer(stderr))
    return ToldFailure(told[-1]["message"], told[-1]["hint"] or "") if told else None
