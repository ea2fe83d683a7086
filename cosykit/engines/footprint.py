"""How much memory a model is going to take, before it is loaded."""

from dataclasses import dataclass

from cosykit.config.schema import Settings
from cosykit.engines.cosyvoice.installed import find_installed
from cosykit.errors import CosykitError
from cosykit.hub.bundle import Bundle, read_bundle
from cosykit.spec import LITE

# What models take beyond the files of their graphs: the embedded voice took 240 to 280
# MB with its dictionaries, and 92 of them are its graph; CosyVoice-300M-SFT at int8
# took 540, about as much as its files, and 500 more with eight requests at once.
_BEYOND_FILES_BYTES = 150_000_000
# The session in which the embedded voice speaks several requests at once.
_COMPANY_BYTES = 150_000_000


@dataclass(frozen=True, slots=True)
class Footprint:
    """The memory of a model, in bytes.

    Attributes:
        loaded: What loading it takes.
        later: What it takes once a recording is to be measured, or requests come
            together.
    """

    loaded: int
    later: int = 0


def estimate(model: str, settings: Settings) -> Footprint:
    """Estimate from the sizes of its files; nothing is known of plug-ins without any.

    Whatever keeps the model from being loaded is told by whoever loads it.
    """
    try:
        bundle = read_bundle(settings.models_dir, model)
        if bundle is None:
            return Footprint(0)
        files = _files_in_use(bundle, model, settings)
    except CosykitError:
        return Footprint(0)
    later = sum(size for path, size in files.items() if path.startswith("frontend/"))
    loaded = sum(files.values()) - later
    if model == LITE.id and settings.engine.parallel != 1:
        later += _COMPANY_BYTES
    return Footprint(loaded + _BEYOND_FILES_BYTES, later)


def _files_in_use(bundle: Bundle, model: str, settings: Settings) -> dict[str, int]:
    """Map the files that the engine is going to open to their sizes."""
    level = None if model == LITE.id else find_installed(model, settings).level
    return {
        path: digest.size_bytes
        for path, digest in bundle.manifest.files.items()
        if level is None or bundle.is_for(path, level)
    }
