"""Assemble the bundle of a CosyVoice model: obtain, convert, move into place, seal.

    models/<model id>/.building/   what is being converted, and last its manifest

Files move to their places when all of them are made and on the disk, and the manifest
moves last. An install that was killed before all was made has changed nothing; one that
was killed while it moved them is finished when the next one begins. What was fetched is
not fetched again.
"""

import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import get_args

from cosykit import __version__
from cosykit.convert.build import build
from cosykit.convert.pieces import DESCRIPTION, Piece, facts_of, pieces_of
from cosykit.errors import ModelLoadError, ResourceError
from cosykit.hub.atomic import sync, translate_os_error
from cosykit.hub.bundle import (
    MANIFEST,
    Bundle,
    Manifest,
    read_bundle,
    seal,
)
from cosykit.hub.progress import News
from cosykit.hub.sources import SourceFiles
from cosykit.hub.staging import Staging
from cosykit.hub.verify import FileDigest
from cosykit.ops.release import Release
from cosykit.ops.request import InstallResult, Origin, Wish
from cosykit.runtime.precision import choose_level
from cosykit.runtime.providers import choose_provider
from cosykit.spec import GRAPHS_VERSION, Level, Precision

_BUILDING = ".building"


class Assembly:
    """One install of a model; the caller holds the model's lock."""

    def __init__(
        self, release: Release, models_dir: Path, wish: Wish, news: News
    ) -> None:
        self._release, self._model = release, release.spec.id
        self._models_dir, self._folder = models_dir, models_dir / self._model
        self._wish, self._news = wish, news

    def complete(self) -> InstallResult:
        """Install the model, or mend what is broken and add what is wished for."""
        _settle(self._folder)
        old = self._usable_bundle()
        return self._amend(old) if old else self.renew()

    def renew(self) -> InstallResult:
        """Make the whole bundle, whatever there is."""
        _settle(self._folder)
        existed = (self._folder / MANIFEST).exists()
        level = self._choose(None)
        files = self._release.obtain(self._models_dir, level.precision, self._news)
        pieces = pieces_of(level, files.digests)
        bundle = self._build(None, files, (level,), pieces)
        return InstallResult(bundle, "repaired" if existed else "installed")

    def _usable_bundle(self) -> Bundle | None:
        try:
            bundle = read_bundle(self._models_dir, self._model)
        except ModelLoadError as error:
            self._news.say(error.message)
            return None
        if bundle and bundle.manifest.graphs_version != GRAPHS_VERSION:
            self._news.say(f"{self._model} was converted by another CosyKit")
            return None
        return bundle

    def _amend(self, old: Bundle) -> InstallResult:
        broken = old.problems()
        for path, problem in broken.items():
            self._news.say(f"{path} is broken: {problem}")
        levels = self._levels(old.manifest.levels)
        missing = [
            piece
            for piece in _pieces(levels, old.manifest)
            if not _is_whole(piece, old.manifest, broken)
        ]
        kept = Staging(self._models_dir, self._model).problems()
        names = {piece.source for piece in missing} | set(kept)
        if not names:
            return self._keep(old)
        files = self._release.obtain_again(
            old.manifest, names, self._models_dir, levels[-1].precision, self._news
        )
        bundle = self._build(old.manifest, files, levels, missing) if missing else old
        return InstallResult(bundle, "repaired" if broken or kept else "extended")

    def _keep(self, bundle: Bundle) -> InstallResult:
        if self._release.origin != Origin():
            self._news.say(
                f"{self._model} is installed from {bundle.manifest.source}; to take "
                f"another, first run: cosykit models --remove {self._model}"
            )
        return InstallResult(bundle, "present")

    def _levels(self, installed: Sequence[Level]) -> Sequence[Level]:
        """List the levels to have in the end, one that is asked for last."""
        wish = self._wish
        if wish.only_repair or (wish.precision, wish.vocoder) == ("auto", "auto"):
            return installed
        asked = self._choose(installed[-1])
        return (*(level for level in installed if level != asked), asked)

    def _choose(self, installed: Level | None) -> Level:
        """Choose a level; what is not asked for stays as it is installed."""
        precision, vocoder = self._wish.precision, self._wish.vocoder
        if installed:
            precision = installed.precision if precision == "auto" else precision
            vocoder = installed.vocoder if vocoder == "auto" else vocoder
        choice = choose_level(
            precision, vocoder, choose_provider(self._wish.provider).provider
        )
        self._news.say(f"Precision {choice.level}: {choice.reason}")
        return choice.level

    def _build(
        self,
        old: Manifest | None,
        files: SourceFiles,
        levels: Sequence[Level],
        pieces: Collection[Piece],
    ) -> Bundle:
        """Make pieces, put them to what is there, and seal all of it."""
        description = files.path(DESCRIPTION)
        if DESCRIPTION not in files.digests:
            description = self._folder / DESCRIPTION
        self._news.say(f"Converting {', '.join(sorted({p.source for p in pieces}))}")
        building = self._folder / _BUILDING
        try:
            building.mkdir(parents=True)
            made = build(
                files, building, pieces, self._model, description, self._news.conversion
            )
            manifest = self._manifest(old, files, levels, made, description)
            seal(building, manifest)
            _settle(self._folder)
        except OSError as error:
            if isinstance(error, ResourceError):
                raise
            raise translate_os_error(error, building) from error
        finally:
            shutil.rmtree(building, ignore_errors=True)
        bundle = Bundle(self._folder, manifest)
        _drop_other_graphs(bundle)
        if not manifest.keeps_source:
            files.discard()
        return bundle

    def _manifest(
        self,
        old: Manifest | None,
        files: SourceFiles,
        levels: Sequence[Level],
        made: Mapping[str, FileDigest],
        description: Path,
    ) -> Manifest:
        new_graphs = {path: made[path] for path in made if _is_graph(path)}
        new_others = {path: made[path] for path in made if not _is_graph(path)}
        changes = {
            "levels": tuple(levels),
            "keeps_source": self._wish.keep_source or bool(old and old.keeps_source),
            "converter": __version__,
        }
        if old:
            changes["graphs"] = {**old.graphs, **new_graphs}
            changes["others"] = {**old.others, **new_others}
            return old.model_copy(update=changes)
        return Manifest(
            model=self._model,
            source=files.origin,
            repository=files.repository,
            revision=files.revision,
            folder="" if files.is_ours else str(files.folder),
            base=self._release.base,
            source_files=files.digests,
            unexpected=files.unexpected,
            graphs=new_graphs,
            others=new_others,
            facts=facts_of(description, self._release.spec.modes, files.digests),
            graphs_version=GRAPHS_VERSION,
            levels=tuple(levels),
            keeps_source=self._wish.keep_source,
            converter=__version__,
        )


def _pieces(levels: Sequence[Level], manifest: Manifest) -> Collection[Piece]:
    """List the pieces that a model consists of at several levels."""
    released = manifest.source_files
    return dict.fromkeys(
        piece for level in levels for piece in pieces_of(level, released)
    )


def _is_whole(piece: Piece, manifest: Manifest, broken: Collection[str]) -> bool:
    for path in piece.paths:
        if path.endswith("/"):
            if any(bad.startswith(path) for bad in broken):
                return False
        elif path in broken or path not in manifest.files:
            return False
    return True


def _is_graph(path: str) -> bool:
    return path.partition("/")[0] in get_args(Precision)


def _settle(folder: Path) -> None:
    """Finish what was made whole, and delete what was not.

    Raises:
        ResourceError: A file cannot be moved or deleted.
    """
    building = folder / _BUILDING
    try:
        if (building / MANIFEST).is_file():
            _move_all(building, folder)
        if building.exists():
            shutil.rmtree(building)
        for temporary in folder.rglob(".*.tmp"):
            temporary.unlink()
    except OSError as error:
        raise translate_os_error(error, folder) from error


def _move_all(building: Path, folder: Path) -> None:
    """Move finished files to their places, their manifest last."""
    paths = [path for path in building.rglob("*") if path.is_file()]
    paths.remove(building / MANIFEST)
    targets = {path: folder / path.relative_to(building) for path in paths}
    for path, target in targets.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
    for parent in {target.parent for target in targets.values()}:
        sync(parent)
    (building / MANIFEST).replace(folder / MANIFEST)
    sync(folder)


def _drop_other_graphs(bundle: Bundle) -> None:
    """Delete graphs that the manifest does not list, such as those of other versions.

    A server that runs on them keeps them until it ends.
    """
    for precision in get_args(Precision):
        for path in (bundle.folder / precision).glob("*"):
            if f"{precision}/{path.name}" not in bundle.manifest.graphs:
                path.unlink(missing_ok=True)
