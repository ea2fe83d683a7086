"""The embedded weights are joined from their packages and checked."""

from dataclasses import replace
from pathlib import Path

import pytest

from cosykit.errors import ModelLoadError
from cosykit.hub.catalog import LITE_SOURCE as SOURCE
from cosykit.hub.packaged import join_parts
from cosykit.hub.verify import digest_of


def test_parts_join_to_the_known_file(tmp_path: Path) -> None:
    join_parts(SOURCE, tmp_path / "kokoro.onnx")
    assert digest_of(tmp_path / "kokoro.onnx") == SOURCE.whole


def test_wrong_content_is_refused(tmp_path: Path) -> None:
    swapped = replace(SOURCE, packages=SOURCE.packages[::-1])
    with pytest.raises(ModelLoadError, match="force-reinstall"):
        join_parts(swapped, tmp_path / "kokoro.onnx")


def test_missing_package_is_named(tmp_path: Path) -> None:
    missing = replace(SOURCE, packages=("no_such_package",))
    with pytest.raises(ModelLoadError, match="no-such-package is not installed"):
        join_parts(missing, tmp_path / "kokoro.onnx")


def test_package_without_its_part_is_named(tmp_path: Path) -> None:
    lacking = replace(SOURCE, part="other.bin")
    with pytest.raises(ModelLoadError, match="lacks its file"):
        join_parts(lacking, tmp_path / "kokoro.onnx")
