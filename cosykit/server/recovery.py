"""Mend a broken model while another one speaks."""

import asyncio
import os
import sys

from cosykit.config.schema import Settings
from cosykit.errors import ModelLoadError


async def repair(model: str, settings: Settings) -> None:
    """Repair a model in a child process, so that it costs this one no memory.

    Raises:
        ModelLoadError: It cannot be repaired.
    """
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cosykit", "install", model, "--repair"),
        *("--models-dir", str(settings.models_dir)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **_environment(settings)},
    )
    try:
        _, told = await child.communicate()
    finally:
        if child.returncode is None:
            child.terminate()
    if child.returncode:
        lines = told.decode(errors="replace").strip().splitlines()
        raise ModelLoadError(
            f"the repair failed: {lines[-1] if lines else child.returncode}",
            hint=f"Run: cosykit install {model} --repair",
        )


def _environment(settings: Settings) -> dict[str, str]:
    """Hand our settings of the hub on, which may come from flags."""
    hub = {
        f"COSYKIT_HUB_{name.upper()}": str(value).lower()
        if value in (True, False)
        else str(value)
        for name, value in settings.hub.model_dump().items()
    }
    return {"COSYKIT_CONFIG": os.devnull, **hub}
