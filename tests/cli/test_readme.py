"""The commands that the READMEs show, as a reader would type them."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.conftest import ROOT

# Tested on their own: they run on, measure for long, or ask a hub.
_ELSEWHERE = {"serve", "bench", "doctor"}


def shown_commands() -> list[list[str]]:
    """Collect `bin/cosykit ...` from the shell blocks, without pipes into it."""
    found: list[list[str]] = []
    for name in ("README.md", "README.zh.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
            for line in block.splitlines():
                if not line.startswith("bin/cosykit "):
                    continue
                words = shlex.split(line, comments=True)[1:]
                if words not in found:
                    found.append(words)
    return found


def test_both_readmes_show_every_way_to_start() -> None:
    shown = {words[0] for words in shown_commands()}
    assert shown >= {"say", "voices", "config", *_ELSEWHERE}


@pytest.mark.parametrize(
    "words",
    [words for words in shown_commands() if words[0] not in _ELSEWHERE],
    ids=" ".join,
)
def test_shown_command_does_what_it_says(
    run: Run,
    folder: Path,
    lite_models: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
) -> None:
    monkeypatch.setenv("COSYKIT_MODELS_DIR", str(lite_models))
    (folder / "book.txt").write_text("第一章。Hello, 2 readers.", encoding="utf-8")
    outcome = run(*words)
    assert outcome.code == 0, outcome.err
    if "-o" in words:
        assert (folder / words[words.index("-o") + 1]).stat().st_size > 5_000
