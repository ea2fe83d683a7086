"""A model as it lies on disk, described by its manifest.

    models/<model id>/
      manifest.json     what was installed, from what, with which hashes
      int8/ fp32/ ...   the graphs of that quantization level, and their weights
      voices/           built-in and saved voices (see voice_file.py)
      frontend/         networks that measure recordings, of models that clone voices
      cosyvoice.yaml    the model's description, as it was released
      source/           what was downloaded, until it is converted (see staging.py)
      .building/        a conversion under way

The manifest is written last: a folder without one does not count as a model. Several
levels lie side by side, and what they have in common is there once.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from cosykit.errors import ModelLoadError
from cosykit.hub.atomic import delete_folder, replacing, translate_os_error
from cosykit.hub.catalog import CATALOG, find_entry
from cosykit.hub.lock import install_lock
from cosykit.hub.progress import Say, silent
from cosykit.hub.verify import FileDigest, problem_with
from cosykit.spec import (
    LEVELS,
    GraphName,
    Level,
    ModelFacts,
    ModelSpec,
    Precision,
)

MANIFEST = "manifest.json"
SCHEMA_VERSION: Literal[1] = 1


class Manifest(BaseModel):
    """The content of manifest.json.

    Attributes:
        source: Where the weights came from, in words.
        repository: Repository on a hub; empty where there is none.
        revision: Revision of the repository: a commit where the hub tells it.
        folder: Folder of the user's that it was made from; empty where there is none.
        base: Model of the catalogue that it has the architecture and the abilities of,
            for a model of the user's own; empty for those of the catalogue.
        source_files: Digest of every source file by its name.
        unexpected: What CosyKit knew of each source file that turned out another.
        levels: The precisions that were asked for, those of the last install last.
        keeps_source: Whether the released files were to stay on the disk.
        graphs: Digest of every graph, and of its weights, by its path in the bundle.
        others: Digests of the other files that came with the model.
        facts: What the engine takes to know of the graphs.
        converter: Version of CosyKit that wrote the graphs.
        graphs_version: What those graphs are like, see `spec.GRAPHS_VERSION`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = SCHEMA_VERSION
    model: str
    source: str
    repository: str = ""
    revision: str = ""
    folder: str = ""
    base: str = ""
    source_files: Mapping[str, FileDigest]
    unexpected: Mapping[str, FileDigest] = {}
    levels: tuple[Level, ...] = ()
    keeps_source: bool = False
    graphs: Mapping[str, FileDigest]
    others: Mapping[str, FileDigest] = {}
    facts: ModelFacts | None = None
    converter: str
    graphs_version: int = 0

    @property
    def files(self) -> Mapping[str, FileDigest]:
        """Digest of every file of the bundle by its path in it."""
        return {**self.graphs, **self.others}


class Bundle:
    """An installed model: a folder and its manifest."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest

    @property
    def precisions(self) -> tuple[str, ...]:
        """The quantization levels that are installed."""
        asked: set[str] = {level.precision for level in self.manifest.levels}
        return tuple(sorted(asked or {g.split("/")[0] for g in self.manifest.graphs}))

    @property
    def size_bytes(self) -> int:
        """What the files that came with the model take on disk."""
        return sum(digest.size_bytes for digest in self.manifest.files.values())

    @property
    def voices_folder(self) -> Path:
        """Where the voices are, built-in and saved ones."""
        return self.folder / "voices"

    def graph(self, precision: Precision, name: str) -> Path:
        """Locate a graph file."""
        return self.folder / precision / name

    def graphs(self, level: Level) -> Mapping[GraphName, Path]:
        """Locate the graphs of CosyVoice for a level."""
        return {
            name: self.graph(precision, f"{name}.onnx")
            for name, precision in level.graphs.items()
        }

    @property
    def levels(self) -> tuple[Level, ...]:
        """Every level of CosyVoice whose graphs are all there."""
        return tuple(
            level
            for level in LEVELS
            if all(
                f"{precision}/{name}.onnx" in self.manifest.graphs
                for name, precision in level.graphs.items()
            )
        )

    def network(self, name: str) -> Path:
        """Locate a network that measures recordings, such as `campplus`."""
        return self.folder / "frontend" / f"{name}.onnx"

    def is_for(self, path: str, level: Level) -> bool:
        """Tell whether a level needs a file: all but the graphs of other levels."""
        folder, _, file = path.partition("/")
        if folder not in get_args(Precision):
            return True
        return (file.partition(".")[0], folder) in level.graphs.items()

    def problems(
        self, level: Level | None = None, *, by_size: bool = False
    ) -> Mapping[str, str]:
        """Rehash every file; map the path of each bad one to what is wrong.

        Args:
            level: Leaves the graphs out that only other levels have.
            by_size: Looks at the sizes only, which is quick.
        """
        found = {}
        for path, expected in self.manifest.files.items():
            if level and not self.is_for(path, level):
                continue
            problem = problem_with(self.folder / path, expected, by_size=by_size)
            if problem:
                found[path] = problem
        return found

    def check(self, level: Level | None = None) -> None:
        """Make sure that every file, or all that a level needs, is as it was installed.

        Raises:
            ModelLoadError: A file is missing or was changed.
        """
        for path, problem in self.problems(level).items():
            raise ModelLoadError(
                f"{self.folder / path} is broken: {problem}",
                hint=f"Run: cosykit install {self.manifest.model} --repair",
            )

    def check_graph(self, graph: Path) -> None:
        """Make sure that a graph is still the one that the model was loaded with.

        Raises:
            ModelLoadError: It is not.
        """
        for path in (graph, graph.with_name(f"{graph.name}.data")):
            name = path.relative_to(self.folder).as_posix()
            expected = self.manifest.graphs.get(name)
            if expected and problem_with(path, expected):
                raise ModelLoadError(
                    f"{self.manifest.model} was changed or removed since it was loaded",
                    hint="Start CosyKit again",
                )


def read_bundle(models_dir: Path, model: str) -> Bundle | None:
    """Open an installed model; None when there is none.

    Raises:
        ModelLoadError: Its manifest cannot be read.
    """
    folder = models_dir / model
    try:
        text = (folder / MANIFEST).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _broken_manifest(folder, model, str(error)) from error
    try:
        return Bundle(folder, Manifest.model_validate_json(text))
    except ValidationError as error:
        faults = {fault["loc"] for fault in error.errors()}
        is_other = ("schema_version",) in faults
        reason = "of another CosyKit" if is_other else "no manifest"
        raise _broken_manifest(folder, model, f"it is {reason}") from error


def readable_bundle(models_dir: Path, model: str) -> Bundle | None:
    """Open an installed model; None when there is none, or none that can be read."""
    try:
        return read_bundle(models_dir, model)
    except ModelLoadError:
        return None


def _broken_manifest(folder: Path, model: str, reason: str) -> ModelLoadError:
    is_own = model not in CATALOG
    command = f"convert DIR --name {model}" if is_own else f"install {model} --repair"
    return ModelLoadError(
        f"{folder / MANIFEST} cannot be read: {reason}",
        hint=f"Run: cosykit {command}",
    )


def spec_of(models_dir: Path, model: str) -> ModelSpec:
    """Say what a model is: one of the catalogue, or of the user's own.

    Raises:
        NotFoundError: Neither the catalogue nor the models folder has it.
        ModelLoadError: It is of the user's own and its manifest cannot be read, or is
            of another model.
    """
    # A name may come from a stranger, so only names that were seen become paths.
    is_own = model in own_models(models_dir)
    bundle = read_bundle(models_dir, model) if is_own else None
    if bundle is None:
        return find_entry(model).spec
    if bundle.manifest.base not in CATALOG:
        raise _foreign(bundle)
    base = find_entry(bundle.manifest.base).spec
    facts = bundle.manifest.facts
    return replace(
        base,
        id=model,
        title=f"Your own, of the kind of {base.id}",
        sample_rate=facts.sample_rate if facts else base.sample_rate,
        modes=facts.modes if facts else base.modes,
    )


def _foreign(bundle: Bundle) -> ModelLoadError:
    folder, manifest = bundle.folder, bundle.manifest
    if manifest.base:
        return ModelLoadError(
            f"{folder.name} is made from {manifest.base}, which this version of "
            "CosyKit does not know",
            hint="Upgrade CosyKit",
        )
    return ModelLoadError(
        f"{folder} holds {manifest.model}, which goes by no other name",
        hint=f"Rename it to {manifest.model}, move it elsewhere, or run: cosykit "
        f"models --remove {folder.name}",
    )


def own_models(models_dir: Path) -> tuple[str, ...]:
    """List the models in the folder that are not of the catalogue."""
    try:
        manifests = sorted(models_dir.glob(f"*/{MANIFEST}"))
    except OSError:  # who opens a model there is told why that fails
        return ()
    names = (manifest.parent.name for manifest in manifests)
    return tuple(n for n in names if n not in CATALOG and not n.startswith("."))


def write_manifest(models_dir: Path, manifest: Manifest) -> Bundle:
    """Seal a bundle: from now on it counts as installed."""
    return seal(models_dir / manifest.model, manifest)


def seal(folder: Path, manifest: Manifest) -> Bundle:
    """Write a manifest into a folder that is not, or not yet, in its place."""
    with replacing(folder / MANIFEST) as temporary:
        temporary.write_text(manifest.model_dump_json(indent=2) + "\n", "utf-8")
    return Bundle(folder, manifest)


def remove_bundle(models_dir: Path, model: str, say: Say = silent) -> bool:
    """Delete a model with its saved voices; False when there is none.

    The manifest goes first, so that a killed removal leaves no half model that counts.
    Waits for an install of the model in another process, and says so.

    Raises:
        ResourceError: A file cannot be deleted.
    """
    folder = models_dir / model
    if not folder.is_dir():
        return False
    with install_lock(models_dir, model, say):
        try:
            (folder / MANIFEST).unlink(missing_ok=True)
        except OSError as error:
            raise translate_os_error(error, folder) from error
        if folder.is_symlink():  # to another disk, where its space is to be free again
            delete_folder(folder.resolve())
        delete_folder(folder)
    return True
