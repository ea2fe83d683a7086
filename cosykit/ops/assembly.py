"""Assemble the bundle of a CosyVoice model: obtain, convert, move into place, seal."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import get_args

from cosykit import __version__
from cosykit.convert.build import build
from cosykit.convert.pieces import (
    DESCRIPTION,
    Piece,
    facts_of,
    pieces_of,
    space_ratio,
)
from cosykit.errors import ModelLoadError
from cosykit.hub.building import building_in, settle
from cosykit.hub.bundle import (
    MANIFEST,
    Bundle,
    Manifest,
    read_bundle,
    readable_bundle,
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
from cosykit.synthesis.voice.store import added_voices


class Assembly:
    """One install of a model; the caller holds the model's lock."""

    def __init__(
        self, release: Release, models_dir: Path, wish: Wish, news: News
    ) -> None:
        self._release, self._model = release, release.spec.id
        self._models_dir, self._folder = models_dir, models_dir / self._model
        self._staging = Staging(models_dir, self._model)
        self._wish, self._news = wish, news

    def complete(self) -> InstallResult:
        """Install the model, or mend what is broken and add what is wished for."""
        settle(self._folder)
        old = self._readable_bundle()
        return self._amend(old) if old else self.renew()

    def renew(self) -> InstallResult:
        """Make the whole bundle, whatever there is."""
        settle(self._folder)
        existed = (self._folder / MANIFEST).exists()
        level = self._choose(None)
        ratio = space_ratio(pieces_of(level, self._release.source.files))
        files = self._release.obtain(self._models_dir, ratio, self._news)
        pieces = pieces_of(level, files.digests)
        bundle = self._build(None, files, (level,), pieces)
        return InstallResult(bundle, "repaired" if existed else "installed")

    def _readable_bundle(self) -> Bundle | None:
        try:
            bundle = read_bundle(self._models_dir, self._model)
        except ModelLoadError as error:
            self._news.say(error.message)
            return None
        if bundle and not (bundle.manifest.levels and bundle.manifest.facts):
            self._news.say(f"{bundle.folder / MANIFEST} is that of no CosyVoice model")
            return None
        return bundle

    def _amend(self, old: Bundle) -> InstallResult:
        manifest = old.manifest
        levels = self._levels(manifest.levels)
        broken = self._broken(old)
        missing = [
            piece
            for piece in _pieces(levels, manifest.source_files)
            if not _is_whole(piece, manifest, broken)
        ]
        kept = self._staging.problems() if manifest.keeps_source else {}
        names = {piece.source for piece in missing} | set(kept)
        if not names:
            return self._keep(old, broken)
        files = self._release.obtain_again(
            manifest, names, self._models_dir, space_ratio(missing), self._news
        )
        bundle = self._build(manifest, files, levels, missing) if missing else old
        return InstallResult(bundle, "repaired" if broken or kept else "extended")

    def _broken(self, bundle: Bundle) -> Collection[str]:
        """List the files of a bundle that cannot be used, and say why."""
        if bundle.manifest.graphs_version != GRAPHS_VERSION:
            self._news.say(f"{self._model} was converted by another CosyKit")
            return bundle.manifest.files
        problems = bundle.problems()
        for path, problem in problems.items():
            self._news.say(f"{path} is broken: {problem}")
        return problems

    def _keep(self, old: Bundle, broken: Collection[str]) -> InstallResult:
        bundle = _without_leftovers(old)
        dropped = old.manifest.graphs.keys() - bundle.manifest.graphs.keys()
        if not bundle.manifest.keeps_source:
            self._staging.discard()  # left by an install that was killed at its end
        if self._release.origin != Origin():
            self._news.say(
                f"{self._model} is installed from {bundle.manifest.source}; to take "
                f"another, first run: cosykit models --remove {self._model}"
            )
        return InstallResult(
            bundle, "present" if dropped.isdisjoint(broken) else "repaired"
        )

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
        former = readable_bundle(self._models_dir, self._model)
        with building_in(self._folder) as building:
            made = build(
                files,
                building,
                pieces,
                self._model,
                description,
                self._news.conversion,
                added_voices(former) if former else (),
            )
            manifest = self._manifest(
                self._origin(old, files), levels, made, description
            )
            seal(building, manifest)
        bundle = Bundle(self._folder, manifest)
        _drop_other_graphs(bundle)
        if former:
            _drop_other_voices(bundle, former)
        if not manifest.keeps_source:
            files.discard()
        return bundle

    def _origin(self, old: Manifest | None, files: SourceFiles) -> Manifest:
        """Begin a manifest with where the files come from."""
        if old and files.is_ours:
            return old
        if old:
            place = {"source": files.origin, "folder": str(files.folder)}
            return old.model_copy(update=place)
        return Manifest(
            model=self._model,
            source=files.origin,
            repository=files.repository,
            revision=files.revision,
            folder="" if files.is_ours else str(files.folder),
            base=self._release.base,
            source_files=files.digests,
            unexpected=files.unexpected,
            graphs={},
            converter=__version__,
        )

    def _manifest(
        self,
        begun: Manifest,
        levels: Sequence[Level],
        made: Mapping[str, FileDigest],
        description: Path,
    ) -> Manifest:
        wanted = _paths(levels, begun.source_files)
        graphs = {path: made[path] for path in made if _is_graph(path)}
        others = {path: made[path] for path in made if not _is_graph(path)}
        graphs = {**begun.graphs, **graphs}
        modes, released = self._release.spec.modes, begun.source_files
        return begun.model_copy(
            update={
                "levels": tuple(levels),
                "keeps_source": begun.keeps_source or self._wish.keep_source,
                "graphs": {path: graphs[path] for path in graphs if path in wanted},
                "others": {**begun.others, **others},
                "facts": facts_of(description, modes, released),
                "converter": __version__,
                "graphs_version": GRAPHS_VERSION,
            }
        )


def _pieces(levels: Sequence[Level], released: Collection[str]) -> Collection[Piece]:
    """List the pieces that a model consists of at several levels."""
    return dict.fromkeys(
        piece for level in levels for piece in pieces_of(level, released)
    )


def _paths(levels: Sequence[Level], released: Collection[str]) -> Collection[str]:
    return {path for piece in _pieces(levels, released) for path in piece.paths}


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


def _without_leftovers(bundle: Bundle) -> Bundle:
    """Drop graphs that earlier versions ran on, and that nothing here could mend."""
    manifest = bundle.manifest
    wanted = _paths(manifest.levels, manifest.source_files)
    graphs = {path: manifest.graphs[path] for path in manifest.graphs if path in wanted}
    if graphs == manifest.graphs:
        return bundle
    kept = seal(bundle.folder, manifest.model_copy(update={"graphs": graphs}))
    _drop_other_graphs(kept)
    return kept


def _drop_other_graphs(bundle: Bundle) -> None:
    """Delete graphs that the manifest does not list, such as those of other versions.

    A server that runs on them keeps them until it ends.
    """
    for precision in get_args(Precision):
        for path in (bundle.folder / precision).glob("*"):
            if f"{precision}/{path.name}" not in bundle.manifest.graphs:
                path.unlink(missing_ok=True)


def _drop_other_voices(bundle: Bundle, former: Bundle) -> None:
    """Delete the voices of an earlier training that the new one does not have."""
    for path in former.manifest.others.keys() - bundle.manifest.others.keys():
        if (bundle.folder / path).parent == bundle.voices_folder:
            (bundle.folder / path).unlink(missing_ok=True)
