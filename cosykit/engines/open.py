"""Open an engine for a model."""

import logging
import time
from collections.abc import Sequence
from pathlib import Path

from cosykit.config import Settings, load_settings
from cosykit.config.schema import RuntimeSettings
from cosykit.engines.embedded import install_embedded
from cosykit.engines.fallback import Failure, Rung, best_installed, climb, ladder
from cosykit.engines.synthesizer import Synthesizer
from cosykit.errors import ModelLoadError
from cosykit.hub.building import NOTHING, standing
from cosykit.hub.bundle import read_bundle, spec_of
from cosykit.hub.catalog import CATALOG
from cosykit.plugins import load_plugin, misfit, plugin_names
from cosykit.seams import Engine, EngineInfo
from cosykit.spec import LITE

_log = logging.getLogger(__name__)

# Files that are written take their places within a moment.
_MOST_TRIES, _PAUSE_S = 5, 0.2


def load(model: str | None = None, settings: Settings | None = None) -> Synthesizer:
    """Load a model.

    Args:
        model: Its id; None takes the one of the configuration, `auto` the best one
            that is installed. The embedded voice is installed on the way.
        settings: None loads the configuration as the command line does.

    Where `auto` has chosen a model that cannot be loaded, a lesser one is, see
    `fallback.py`; the result says so.

    Raises:
        ModelLoadError: The model is not installed, broken, or cannot be loaded.
        NotFoundError: There is no such model.
        RuntimeSetupError: ONNX Runtime or the provider cannot be used.
        ConfigError: The configuration is wrong.
    """
    settings = settings or load_settings().settings
    wanted = model or settings.model
    if wanted == "auto":
        return _climbed(ladder(settings))
    return Synthesizer(_open_engine(wanted, settings))


def load_again(failures: Sequence[Failure]) -> Synthesizer:
    """Load what could not be loaded before.

    Raises:
        CosykitError: It still cannot be.
    """
    return _climbed([failure.rung for failure in failures])


def _climbed(rungs: Sequence[Rung]) -> Synthesizer:
    engine, failures = climb(
        rungs, lambda rung: _open_engine(rung.model, rung.settings)
    )
    return Synthesizer(engine, failures)


def _open_engine(model: str, settings: Settings) -> Engine:
    """Open a model, and once more if another process has changed it meanwhile.

    Half of its files could be of the one and half of the other.
    """
    folder = settings.models_dir / model
    for tries_left in reversed(range(_MOST_TRIES)):
        before = standing(folder)
        try:
            opened = _open_once(model, settings)
        except ModelLoadError:
            is_changing = before[1] or standing(folder) != before
            if not (is_changing and tries_left):
                raise
        else:
            # A plug-in's has no files of ours, or it was installed on the way.
            if before in (NOTHING, standing(folder)):
                return opened
            opened.close()
        time.sleep(_PAUSE_S)
    raise ModelLoadError(
        f"{model} is being changed by another process", hint="Try again when it is not"
    )


def _open_once(model: str, settings: Settings) -> Engine:
    family = engine_of(model, settings.models_dir)
    if model == LITE.id and read_bundle(settings.models_dir, model) is None:
        install_embedded(settings.models_dir)
    opened = load_plugin("cosykit.engines", family)(model, settings)
    if not isinstance(opened, Engine):
        raise misfit(f"the engine of {model!r}", opened, "the methods of Engine")
    if unmet := unmet_wish(opened.info, settings.runtime):
        _log.warning("%s", unmet)
    return opened


def unmet_wish(info: EngineInfo, runtime: RuntimeSettings) -> str:
    """Say what an engine does otherwise than the configuration asks; or nothing.

    Models have a choice of providers and precisions, but the embedded voice has none.
    """
    wishes = {
        "provider": (runtime.provider, info.provider),
        "precision": (runtime.precision, info.precision),
    }
    unmet = [
        f"runtime.{name} is {wanted}"
        for name, (wanted, real) in wishes.items()
        if wanted not in ("auto", real)
    ]
    if not unmet:
        return ""
    how = f"{info.model} runs on {info.provider} at {info.precision} only"
    return f"{how}, although {' and '.join(unmet)}"


def choose_model(requested: str, models_dir: Path) -> str:
    """Resolve `auto` to a model id and check that any other one is known.

    Raises:
        NotFoundError: No catalogue, plug-in or folder in `models_dir` has the model.
        ModelLoadError: It is of the user's own and its manifest cannot be read.
    """
    if requested == "auto":
        return best_installed(models_dir)
    engine_of(requested, models_dir)
    return requested


def engine_of(model: str, models_dir: Path) -> str:
    """Name the engine plug-in of a model: its family's, or one of the model's name.

    Raises:
        NotFoundError: No catalogue, plug-in or folder in `models_dir` has the model.
        ModelLoadError: It is of the user's own and its manifest cannot be read.
    """
    if model not in CATALOG and model in plugin_names("cosykit.engines"):
        return model
    return spec_of(models_dir, model).family
