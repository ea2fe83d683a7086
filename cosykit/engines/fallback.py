"""What to do when a model cannot be loaded: the next best speaks meanwhile.

    as configured ─▶ on the processor ─▶ at a smaller precision ─▶ the embedded voice

Only where the configuration leaves the choice of the model to CosyKit; whoever names a
model gets that one, or an error.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from cosykit.config.schema import Settings
from cosykit.errors import (
    CosykitError,
    ModelLoadError,
    ResourceError,
    RuntimeSetupError,
    TooLittleMemoryError,
)
from cosykit.hub.bundle import MANIFEST, readable_bundle
from cosykit.runtime.precision import choose_level
from cosykit.runtime.providers import Provider, choose_provider
from cosykit.spec import LITE, SPECS, Precision

_log = logging.getLogger(__name__)

# Largest first.
_SIZES: Sequence[Precision] = ("fp32", "fp16", "int8", "int4")

Opened = TypeVar("Opened")


@dataclass(frozen=True, slots=True)
class Rung:
    """A way to speak.

    Attributes:
        way: In words, such as `on the CPU`.
    """

    model: str
    settings: Settings
    way: str

    def __str__(self) -> str:
        return f"{self.model} {self.way}"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a rung does not hold."""

    rung: Rung
    error: CosykitError

    def __str__(self) -> str:
        return f"{self.rung}: {self.error.message}"


def ladder(settings: Settings) -> Sequence[Rung]:
    """List the ways to speak, the best first, where the model is `auto`."""
    return tuple(_rungs(settings))


def climb(
    rungs: Sequence[Rung], open_rung: Callable[[Rung], Opened]
) -> tuple[Opened, Sequence[Failure]]:
    """Open the first rung that holds.

    Returns:
        What was opened, and why the better rungs do not hold.

    Raises:
        CosykitError: None does; the error of the first.
    """
    failures: list[Failure] = []
    for rung in rungs:
        try:
            return open_rung(rung), tuple(failures)
        except (ModelLoadError, RuntimeSetupError, ResourceError) as error:
            failures.append(Failure(rung, error))
            _log.debug("why", exc_info=True)
            _forget_frames(error)
        except MemoryError:
            failures.append(Failure(rung, TooLittleMemoryError()))
        if len(rungs) > 1:  # else it is what is raised
            _log.warning("cannot load %s: %s", rung, failures[-1].error)
    raise failures[0].error


def _forget_frames(error: CosykitError) -> None:
    """Free what was loaded before it failed: a traceback keeps all that was at hand."""
    error.__traceback__ = error.__context__ = error.__cause__ = None


def best_installed(models_dir: Path) -> str:
    """Name the best model of the catalogue that is installed, broken or not.

    A model that has no voice yet cannot speak for anybody; the embedded voice needs no
    install.
    """
    for model in SPECS:
        folder = models_dir / model
        if (folder / MANIFEST).is_file() and any((folder / "voices").glob("*.npz")):
            return model
    return LITE.id


def _rungs(settings: Settings) -> Iterator[Rung]:
    model = best_installed(settings.models_dir)
    if model == LITE.id:
        yield Rung(LITE.id, settings, "as configured")
        return
    fallback = settings.engine.fallback
    yield Rung(model, settings, "as configured")
    if "cpu" in fallback and _provider(settings) != "cpu":
        yield Rung(model, _on_cpu(settings), "on the CPU")
    if "precision" in fallback:
        for precision in _smaller(model, settings):
            yield Rung(
                model, _on_cpu(settings, precision), f"on the CPU at {precision}"
            )
    if "lite" in fallback:
        yield Rung(LITE.id, _on_cpu(settings), "instead")


def _on_cpu(
    settings: Settings, precision: Precision | Literal["auto"] = "auto"
) -> Settings:
    """Configure what is the most likely to run at all."""
    runtime = settings.runtime.model_copy(
        update={"provider": "cpu", "precision": precision, "vocoder_precision": "auto"}
    )
    return settings.model_copy(update={"runtime": runtime})


def _provider(settings: Settings) -> Provider:
    """Tell which provider the best rung would run on."""
    requested = settings.runtime.provider
    return choose_provider("auto").provider if requested == "auto" else requested


def _smaller(model: str, settings: Settings) -> Sequence[Precision]:
    """List the installed precisions below the one that the best rung would take."""
    bundle = readable_bundle(settings.models_dir, model)
    if bundle is None or not bundle.levels:
        return ()
    taken = settings.runtime.precision
    if taken == "auto":
        provider = _provider(settings)
        taken = choose_level("auto", "auto", provider, bundle.levels).level.precision
    installed = {level.precision for level in bundle.levels}
    below = _SIZES[_SIZES.index(taken) + 1 :]
    return tuple(precision for precision in below if precision in installed)
