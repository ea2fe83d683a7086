"""Open the model that a command speaks with, and offer to install it."""

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import typer

from cosykit.cli.output import note
from cosykit.errors import ModelLoadError

if TYPE_CHECKING:
    from cosykit.config import Settings
    from cosykit.engines.synthesizer import Synthesizer


def open_model(settings: "Settings") -> "Synthesizer":
    """Load the configured model; at a terminal, offer to install it where that helps.

    Where the choice of the model is left to us, the next best speaks for a broken one.

    Raises:
        ModelLoadError: It is missing or broken, and stays so.
    """
    from cosykit.engines.open import choose_model, load
    from cosykit.hub.bundle import read_bundle
    from cosykit.spec import LITE

    model = choose_model(settings.model, settings.models_dir)
    try:
        if model == LITE.id and read_bundle(settings.models_dir, model) is None:
            _install(model, settings)
        return load(settings=settings)
    except ModelLoadError as error:
        if not _may_install(model, error):
            raise
    _install(model, settings)
    return load(settings=settings)


def make_ready(settings: "Settings") -> None:
    """Have the configured model whole on the disk, for what loads it without asking.

    Raises:
        ModelLoadError: It is missing or broken, and stays so.
    """
    from cosykit.engines.open import choose_model
    from cosykit.hub.bundle import own_models, read_bundle
    from cosykit.spec import LITE, SPECS

    model = choose_model(settings.model, settings.models_dir)
    if model not in (*SPECS, *own_models(settings.models_dir)):
        return  # a plug-in's own model, which it looks after itself
    if settings.model == "auto" and model != LITE.id:
        return  # a better one than the embedded voice; if it is broken, another speaks
    try:
        bundle = read_bundle(settings.models_dir, model)
        if bundle:
            bundle.check()
            return
        if model != LITE.id:
            raise ModelLoadError(
                f"{model} is not installed in {settings.models_dir}",
                hint=f"Run: cosykit install {model}",
            )
    except ModelLoadError as error:
        if not _may_install(model, error):
            raise
    _install(model, settings)


def _may_install(model: str, error: ModelLoadError) -> bool:
    """Ask whoever sits at the terminal."""
    from cosykit.spec import SPECS

    if model not in SPECS or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    note(error.message)
    return typer.confirm(f"Install {model} now?", default=True, err=True)


def _install(model: str, settings: "Settings") -> None:
    """Install in a process of its own, which gives back all the memory it takes."""
    note(f"Preparing {model}; this happens once")
    command = [sys.executable, "-m", "cosykit", "install", model]
    child = subprocess.Popen(  # noqa: S603  (our own command, no outside words)
        [*command, "--models-dir", str(settings.models_dir)],
        stdout=sys.stderr,
        # Our settings are known to be right; the child need not look for a file.
        env={**os.environ, "COSYKIT_CONFIG": os.devnull},
    )
    try:
        code = child.wait()
    except BaseException:
        child.terminate()  # it cleans up, which it could not if it were killed
        child.wait()
        raise
    if code != 0:
        raise typer.Exit(code)  # the child has told why
