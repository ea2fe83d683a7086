"""Install the embedded voice on behalf of a process that wants to speak."""

import os
import re
import subprocess
import sys
from pathlib import Path

from cosykit.errors import (
    ConfigError,
    CosykitError,
    HubError,
    InputError,
    ModelLoadError,
    ResourceError,
    RuntimeSetupError,
)
from cosykit.spec import LITE

_KINDS = (InputError, ConfigError, RuntimeSetupError, ResourceError, HubError)
# How the command line tells a failure.
_TOLD = re.compile(r"^error: (?P<message>.*)(?:\n +(?P<hint>.*))?", re.MULTILINE)


def install_embedded(models_dir: Path) -> None:
    """Install in a child process: conversion must not grow the memory of a server.

    Raises:
        CosykitError: It failed; the kind, the message and the hint are the child's.
    """
    command = [sys.executable, "-m", "cosykit", "install", LITE.id]
    child = subprocess.run(  # noqa: S603  (our own command, no outside words)
        [*command, "--models-dir", str(models_dir)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        # Our settings are known to be right; the child need not look for a file.
        env={**os.environ, "COSYKIT_CONFIG": os.devnull},
    )
    if child.returncode != 0:
        raise _failure(child.returncode, child.stderr)


def _failure(exit_code: int, stderr: str) -> CosykitError:
    told = _TOLD.search(stderr)
    if told is None:
        return ModelLoadError(
            f"the install of the embedded voice ended with code {exit_code}",
            hint=f"Run: cosykit install {LITE.id}",
        )
    kinds = {kind.exit_code: kind for kind in _KINDS}
    kind = kinds.get(exit_code, ModelLoadError)
    return kind(
        f"the embedded voice cannot be installed: {told['message']}",
        hint=told["hint"] or f"Run: cosykit install {LITE.id}",
    )
