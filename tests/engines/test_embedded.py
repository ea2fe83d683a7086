"""The embedded voice is installed on the way, and a failure is told as it was."""

import subprocess
from pathlib import Path

import pytest

from cosykit.config.schema import Settings
from cosykit.engines.embedded import install_embedded
from cosykit.engines.open import load
from cosykit.errors import CosykitError, ModelLoadError, ResourceError


def test_failure_keeps_the_kind_the_message_and_the_hint(tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.write_text("a file")
    with pytest.raises(ResourceError) as caught:
        load("lite", Settings(models_dir=models))
    assert caught.value.message.startswith("the embedded voice cannot be installed: ")
    assert "error:" not in caught.value.message
    assert str(models) in caught.value.message
    assert "\n" not in str(caught.value)
    assert caught.value.hint.startswith("Move that file")


@pytest.mark.parametrize(
    ("code", "stderr", "message", "hint"),
    [
        (-9, "Joining\n", "ended with code -9", "Run: cosykit install lite"),
        (4, "Joining\nerror: it is broken\n  Mend it\n", "it is broken", "Mend it"),
        (1, "error: a bug\n", "a bug", "Run: cosykit install lite"),
    ],
)
def test_other_ends_are_told_too(
    monkeypatch: pytest.MonkeyPatch, code: int, stderr: str, message: str, hint: str
) -> None:
    ended: subprocess.CompletedProcess[str]
    ended = subprocess.CompletedProcess([], code, "", stderr)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ended)
    with pytest.raises(CosykitError, match=message) as caught:
        install_embedded(Path("models"))
    assert type(caught.value) is ModelLoadError
    assert caught.value.hint == hint
