"""A model as it lies on disk, described by its manifest.

    models/<model id>/
      manifest.json     what was installed, from what, with which hashes
      voices/           saved voices
      source/           what was downloaded, until it is converted (see staging.py)
      int8/ fp32/ ...   the graphs of that quantization level

The manifest is written last: a folder without one does not count as a model.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from cosykit.errors import ModelLoadError
from cosykit.hub.atomic import replacing, translate_os_error
from cosykit.hub.verify import FileDigest, problem_with
from cosykit.spec import Precision

SCHEMA_VERSION: Literal[1] = 1


class Manifest(BaseModel):
    """The content of manifest.json.

    Attributes:
        source: Where the weights came from, in words.
        repository: Repository on a hub; empty where there is none.
        revision: Revision of the repository: a commit where the hub tells it.
        source_files: Digest of every source file by its name.
        unexpected: What CosyKit knew of each source file that turned out another.
        graphs: Digest of every graph by its path inside the bundle.
        converter: Version of CosyKit that wrote the graphs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = SCHEMA_VERSION
    model: str
    source: str
    repository: str = ""
    revision: str = ""
    source_files: Mapping[str, FileDigest]
    unexpected: Mapping[str, FileDigest] = {}
    graphs: Mapping[str, FileDigest]
    converter: str


class Bundle:
    """An installed model: a folder and its manifest."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest

    @property
    def precisions(self) -> tuple[str, ...]:
        """The quantization levels that are installed."""
        return tuple(sorted({path.split("/")[0] for path in self.manifest.graphs}))

    @property
    def size_bytes(self) -> int:
        """What the graphs take on disk."""
        return sum(digest.size_bytes for digest in self.manifest.graphs.values())

    def graph(self, precision: Precision, name: str) -> Path:
        """Locate a graph file."""
        return self.folder / precision / name

    def problems(self) -> Mapping[str, str]:
        """Rehash every graph; map the path of each bad one to what is wrong."""
        found = {}
        for path, expected in self.manifest.graphs.items():
            problem = problem_with(self.folder / path, expected)
            if problem:
                found[path] = problem
        return found

    def check(self) -> None:
        """Make sure that every graph is as it was installed.

        Raises:
            ModelLoadError: A graph is missing or was changed.
        """
        for path, problem in self.problems().items():
            raise ModelLoadError(
                f"{self.folder / path} is broken: {problem}",
                hint=f"Run: cosykit install {self.manifest.model} --repair",
            )


def read_bundle(models_dir: Path, model: str) -> Bundle | None:
    """Open an installed model; None when there is none.

    Raises:
        ModelLoadError: Its manifest cannot be read.
    """
    folder = models_dir / model
    try:
        text = (folder / "manifest.json").read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _broken_manifest(folder, model, str(error)) from error
    try:
        return Bundle(folder, Manifest.model_validate_json(text))
    except ValidationError as error:
        raise _broken_manifest(folder, model, "it is not a manifest") from error


def _broken_manifest(folder: Path, model: str, reason: str) -> ModelLoadError:
    return ModelLoadError(
        f"{folder / 'manifest.json'} cannot be read: {reason}",
        hint=f"Run: cosykit install {model} --repair",
    )


def write_manifest(models_dir: Path, manifest: Manifest) -> Bundle:
    """Seal a bundle: from now on it counts as installed."""
    folder = models_dir / manifest.model
    with replacing(folder / "manifest.json") as temporary:
        temporary.write_text(manifest.model_dump_json(indent=2) + "\n", "utf-8")
    return Bundle(folder, manifest)


def remove_bundle(models_dir: Path, model: str) -> bool:
    """Delete a model with its saved voices; False when there is none.

    The manifest goes first, so that a killed removal leaves no half model that counts.

    Raises:
        ResourceError: A file cannot be deleted.
    """
    folder = models_dir / model
    if not folder.is_dir():
        return False
    try:
        (folder / "manifest.json").unlink(missing_ok=True)
        shutil.rmtree(folder)
    except OSError as error:
        raise translate_os_error(error, folder) from error
    return True
