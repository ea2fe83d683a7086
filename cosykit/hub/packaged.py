"""Join a file whose parts come with Python packages."""

import hashlib
import shutil
from importlib.util import find_spec
from pathlib import Path

from cosykit.errors import ModelLoadError
from cosykit.hub.catalog import PackagedSource
from cosykit.hub.verify import FileDigest


def join_parts(source: PackagedSource, target: Path) -> None:
    """Write the parts one after the other and check the whole.

    Raises:
        ModelLoadError: A package is missing or its content is not the known one.
        OSError: The target cannot be written.
    """
    with target.open("wb") as joined:
        for package in source.packages:
            with _part_path(package, source.part).open("rb") as part:
                shutil.copyfileobj(part, joined, length=1 << 20)
        size_bytes = joined.tell()
    with target.open("rb") as joined:
        digest = hashlib.file_digest(joined, "sha256")
    if FileDigest(size_bytes, digest.hexdigest()) != source.whole:
        raise ModelLoadError(
            "the packages with the embedded voice hold something else than expected",
            hint=f"Run: pip install --force-reinstall {_requirement(source)}",
        )


def _part_path(package: str, part: str) -> Path:
    # find_spec, unlike importlib.resources, does not run the package's code.
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModelLoadError(
            f"the package {package.replace('_', '-')} is not installed",
            hint=f"Run: ./install.sh, or pip install {package.replace('_', '-')}",
        )
    path = Path(spec.submodule_search_locations[0]) / part
    if not path.is_file():
        raise ModelLoadError(
            f"the package {package.replace('_', '-')} lacks its file {part}",
            hint=f"Run: pip install --force-reinstall {package.replace('_', '-')}",
        )
    return path


def _requirement(source: PackagedSource) -> str:
    return " ".join(package.replace("_", "-") for package in source.packages)
