"""The released files of a model, from where its user or its catalogue entry says."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from cosykit.config.schema import HubSettings
from cosykit.errors import InputError, ModelLoadError
from cosykit.hub.bundle import Manifest
from cosykit.hub.catalog import HubSource
from cosykit.hub.fetch import fetch
from cosykit.hub.gather import Order
from cosykit.hub.progress import News
from cosykit.hub.sources import SourceFiles, list_folder, use_folder
from cosykit.hub.space import require_space
from cosykit.ops.request import Origin
from cosykit.spec import ModelSpec


@dataclass(frozen=True, slots=True)
class Release:
    """A model and where its files come from.

    Attributes:
        base: Model of the catalogue that a model of the user's own was made from; empty
            for models of the catalogue.
    """

    spec: ModelSpec
    source: HubSource
    hub: HubSettings
    origin: Origin
    base: str = ""

    def check(self, *, whole: bool) -> None:
        """Look whether its files can be where they are said to be, but fetch none.

        Args:
            whole: Whether all of them will be needed.

        Raises:
            InputError: There is no such folder, or it is no name of a repository.
            ModelLoadError: The folder lacks a file.
        """
        if self.origin.folder:
            list_folder(self.source, self.origin.folder, None if whole else ())
        Order(self.origin.repository)

    def obtain(self, models_dir: Path, space_ratio: float, news: News) -> SourceFiles:
        """Have all files whole on the disk, and room for what is made of them.

        Args:
            space_ratio: How much is made of them, as a multiple of their size.

        Raises:
            HubError: No hub gives the files.
            InputError: The folder is not there, or is the model's own.
            ModelLoadError: The folder lacks a file.
            ResourceError: No space or no permission.
        """
        folder, own = self.origin.folder, models_dir / self.spec.id
        if folder:
            if folder.resolve().is_relative_to(own.resolve()):
                raise InputError(
                    f"{folder} lies where {self.spec.id} itself is to be, and would be "
                    "removed with it",
                    hint="Move it elsewhere first",
                    param="from",
                )
            return self._use(folder, None, models_dir, space_ratio, news)
        order = Order(
            self.origin.repository, self.origin.revision, conversion_ratio=space_ratio
        )
        return self._fetch(order, models_dir, news)

    def obtain_again(
        self,
        manifest: Manifest,
        names: Collection[str],
        models_dir: Path,
        space_ratio: float,
        news: News,
    ) -> SourceFiles:
        """Have some of the files whole on the disk that a bundle was made from.

        Raises:
            ModelLoadError: They are other ones by now, or their folder is gone.
            HubError: No hub gives the files.
            ResourceError: No space or no permission.
        """
        folder = self.origin.folder or self._earlier_folder(manifest)
        if folder:
            files = self._use(folder, names, models_dir, space_ratio, news)
        else:
            released = ("", self.source.huggingface, self.source.modelscope)
            repository = manifest.repository
            order = Order(
                None if repository in released else repository,
                manifest.revision or None,
                manifest.repository,
                only=names,
                expected=manifest.source_files,
                conversion_ratio=space_ratio,
            )
            files = self._fetch(order, models_dir, news)
        self._refuse_changed(files, manifest)
        return files

    def _earlier_folder(self, manifest: Manifest) -> Path | None:
        """Give the folder that a bundle was made from, if it is still needed."""
        folder = Path(manifest.folder)
        if not manifest.folder or (not folder.is_dir() and not self.base):
            return None
        if not folder.is_dir():
            raise ModelLoadError(
                f"{folder}, which {self.spec.id} was made from, is not there",
                hint=f"Say where it is: cosykit install {self.spec.id} --from DIR",
            )
        return folder

    def _use(
        self,
        folder: Path,
        names: Collection[str] | None,
        models_dir: Path,
        space_ratio: float,
        news: News,
    ) -> SourceFiles:
        files = use_folder(
            self.source, folder, strict=self.hub.strict, only=names, say=news.say
        )
        size_bytes = sum(digest.size_bytes for digest in files.digests.values())
        require_space(models_dir, round(space_ratio * size_bytes), self.spec.id)
        return files

    def _fetch(self, order: Order, models_dir: Path, news: News) -> SourceFiles:
        return fetch(
            self.spec.id,
            self.source,
            models_dir,
            self.hub,
            order,
            news.say,
            news.transfer,
        )

    def _refuse_changed(self, files: SourceFiles, manifest: Manifest) -> None:
        changed = [
            name
            for name, digest in files.digests.items()
            if manifest.source_files.get(name, digest) != digest
        ]
        if not changed:
            return
        name = self.spec.id
        again = f"cosykit convert DIR --name {name}"
        if not self.base:
            again = (
                f"cosykit models --remove {name} (saved voices go with it: cosykit "
                f"voices export keeps one), then: cosykit install {name}"
            )
        raise ModelLoadError(
            f"{files.origin} no longer has the {', '.join(changed)} that {name} was "
            "made from",
            hint=f"Run: {again}",
        )
