"""Mend a broken model while another one speaks."""

import asyncio
import os
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress

from cosykit.config.schema import Settings
from cosykit.engines.child_install import (
    install_command,
    install_environment,
    told_failure,
)
from cosykit.errors import ModelLoadError
from cosykit.hub.bundle import read_bundle
from cosykit.spec import GRAPHS_VERSION

# Those who are listening come first.
_NICENESS = 10
# A repair that is stopped deletes what is half done.
_PATIENCE_S = 5.0


def can_be_mended(model: str, settings: Settings) -> bool:
    """Tell whether files of an installed model are broken; hashes all of them.

    What else keeps a model from being loaded, such as too little memory, would do so
    again.
    """
    try:
        bundle = read_bundle(settings.models_dir, model)
    except ModelLoadError:
        return True
    if bundle is None:
        return False
    return bundle.manifest.graphs_version != GRAPHS_VERSION or bool(bundle.problems())


async def repair(model: str, settings: Settings) -> None:
    """Repair a model in a child process, so that it costs this one no memory.

    Cancelled, it ends the child first.

    Raises:
        ModelLoadError: It cannot be repaired.
    """
    child = await asyncio.create_subprocess_exec(
        *install_command(model, settings.models_dir, "--repair"),
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=PIPE,
        env=install_environment(_variables(settings)),
    )
    try:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, child.pid, _NICENESS)
        _, told = await child.communicate()
    finally:
        await _end(child)
    if child.returncode:
        failure = told_failure(told.decode(errors="replace"))
        raise ModelLoadError(
            f"the repair failed: {failure.message if failure else 'it was ended'}",
            hint=f"Run: cosykit install {model} --repair",
        )


async def _end(child: Process) -> None:
    if child.returncode is not None:
        return
    child.terminate()
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await child.wait()
    except TimeoutError:
        child.kill()
        await child.wait()


def _variables(settings: Settings) -> dict[str, str]:
    """Hand our settings on, which may come from flags."""
    runtime = settings.runtime.model_dump(
        include={"provider", "precision", "vocoder_precision"}
    )
    sections = {"HUB": settings.hub.model_dump(), "RUNTIME": runtime}
    return {
        f"COSYKIT_{section}_{name.upper()}": (
            str(value).lower() if isinstance(value, bool) else str(value)
        )
        for section, values in sections.items()
        for name, value in values.items()
    }
