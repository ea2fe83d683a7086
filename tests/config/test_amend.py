"""Values of a file change, and nothing else of it does."""

from pathlib import Path

import pytest

from cosykit.config import load_settings
from cosykit.config.amend import amend
from cosykit.config.locate import clone_root
from cosykit.errors import ConfigError


def test_comments_and_all_other_lines_survive() -> None:
    project_file = clone_root() / "cosykit.yaml"
    before = project_file.read_text(encoding="utf-8").splitlines()
    after = amend(project_file, {"engine.batch_size": 3, "runtime.threads": 1})
    changed = [
        (old, new)
        for old, new in zip(before, after.splitlines(), strict=True)
        if old != new
    ]
    assert changed == [
        ("  threads: 0", "  threads: 1"),
        ("  batch_size: 8", "  batch_size: 3"),
    ]


def test_missing_file_and_sections_are_made(tmp_path: Path) -> None:
    path = tmp_path / "cosykit.yaml"
    path.write_text(amend(path, {"model": "lite", "engine.parallel": 2}))
    settings = load_settings(path, environ={}).settings
    assert (settings.model, settings.engine.parallel) == ("lite", 2)
    path.write_text("engine:\n# nothing yet\n")
    assert "parallel: 2" in amend(path, {"engine.parallel": 2})


@pytest.mark.parametrize("text", ["- a\n", "a: [\n", "word"])
def test_what_is_no_configuration_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cosykit.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"cosykit\.yaml"):
        amend(path, {"model": "lite"})
    assert path.read_text() == text
