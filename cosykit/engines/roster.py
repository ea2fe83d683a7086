"""Which models can be loaded here, by the names that requests use."""

from collections.abc import Sequence
from pathlib import Path

from cosykit.errors import NotFoundError, quoted
from cosykit.hub.bundle import MANIFEST, own_models
from cosykit.hub.catalog import CATALOG
from cosykit.plugins import plugin_names
from cosykit.spec import LITE, SPECS


def installed_models(models_dir: Path) -> Sequence[str]:
    """List the models that can be loaded.

    They are those on the disk, the embedded voice, which needs no install, and engines
    of plug-ins that are a model by themselves.
    """
    families = {spec.family for spec in SPECS.values()}
    return (
        *(m for m in SPECS if m == LITE.id or (models_dir / m / MANIFEST).is_file()),
        *own_models(models_dir),
        *(n for n in plugin_names("cosykit.engines") if n not in families),
    )


def find_installed_model(name: str, models_dir: Path) -> str:
    """Look a model up that a stranger has named; only known names become paths.

    Raises:
        NotFoundError: It is not installed, or there is no such model.
    """
    names = installed_models(models_dir)
    for model in (name, name.lower()):
        if model in names:
            return model
    if name.lower() in CATALOG:
        raise NotFoundError(
            f"{name.lower()} is not installed",
            hint=f"Run: cosykit install {name.lower()}",
            param="model",
        )
    raise NotFoundError(
        f"there is no model {quoted(name)}",
        hint=f"Installed: {', '.join(names)}",
        param="model",
    )
