"""Models of random weights: real in size and speed, for measurements without a hub.

models/.synthetic/<model id>/   a bundle like any other, which speaks noise
"""

import shutil
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from cosykit.config.schema import Settings
from cosykit.engines.cosyvoice.open import open_engine
from cosykit.engines.synthesizer import Synthesizer
from cosykit.errors import InputError
from cosykit.hub.atomic import translate_os_error
from cosykit.hub.bundle import readable_bundle
from cosykit.hub.catalog import find_entry
from cosykit.hub.progress import Say, silent
from cosykit.hub.space import require_space
from cosykit.runtime.precision import choose_level
from cosykit.runtime.providers import choose_provider
from cosykit.spec import GRAPHS_VERSION

_FOLDER = ".synthetic"
# The released files, and the graphs at the largest precision.
_RELEASE_BYTES = 1_750_000_000
_BUNDLE_BYTES = 2_000_000_000


def synthetic_model(
    settings: Settings, model: str, tokens: int, say: Say = silent
) -> Callable[[Settings], Synthesizer]:
    """Make a model at the precision of the settings, unless it was made before.

    Args:
        model: Model of the catalogue whose architecture it has.
        tokens: Speech tokens that every line of a text becomes.
        say: Hears a line of news now and then.

    Returns:
        What opens it.

    Raises:
        NotFoundError: There is no such model.
        InputError: It has no architecture that could be filled.
        ResourceError: There is too little space.
    """
    check_can_be_made_up(model)
    folder = settings.models_dir / _FOLDER
    if not _is_made(settings, model, folder):
        # In a process of its own: its memory is not that of what is measured.
        context = get_context("spawn")
        with ProcessPoolExecutor(max_workers=1, mp_context=context) as beside:
            beside.submit(_make, settings, model, folder, say).result()
    return partial(_open, model, folder, tokens)


def check_can_be_made_up(model: str) -> None:
    """Make sure that a model has an architecture that could be filled.

    Raises:
        NotFoundError: There is no such model.
        InputError: It is of another family.
    """
    if find_entry(model).spec.family != "cosyvoice":
        raise InputError(
            f"{model} cannot be made up",
            hint="Choose a CosyVoice model, or measure it as it is",
            param="synthetic",
        )


def _open(model: str, folder: Path, tokens: int, settings: Settings) -> Synthesizer:
    there = settings.model_copy(update={"model": model, "models_dir": folder})
    return Synthesizer(open_engine(model, there, tokens))


def _is_made(settings: Settings, model: str, folder: Path) -> bool:
    runtime = settings.runtime
    provider = choose_provider(runtime.provider).provider
    wanted = choose_level(runtime.precision, runtime.vocoder_precision, provider).level
    bundle = readable_bundle(folder, model)
    if bundle is None or bundle.manifest.graphs_version != GRAPHS_VERSION:
        return False
    return wanted in bundle.levels


def _make(settings: Settings, model: str, folder: Path, say: Say) -> None:
    # What converts is imported by the process that converts, and by no other.
    from cosykit.ops.install import install
    from cosykit.ops.request import Origin, Wish

    runtime, release = settings.runtime, folder / f"{model}-release"
    require_space(folder, _RELEASE_BYTES + _BUNDLE_BYTES, model)
    say(f"Making up the weights of {model}")
    try:
        _write_release(release)
        say(f"Converting {model}, which takes some 10 s")
        install(
            model,
            folder,
            origin=Origin(folder=release),
            wish=Wish(
                runtime.precision, runtime.vocoder_precision, provider=runtime.provider
            ),
        )
    finally:
        shutil.rmtree(release, ignore_errors=True)


def _write_release(folder: Path) -> None:
    from cosykit.convert.synthetic import write_release

    try:
        write_release(folder, "full")
    except OSError as error:
        raise translate_os_error(error, folder) from error
