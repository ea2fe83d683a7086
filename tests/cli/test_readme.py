"""The commands that the READMEs show, typed by a reader from top to bottom."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from cosykit.audio.file import write_audio
from cosykit.convert.synthetic import write_release
from cosykit.types import AudioChunk
from tests.cli.conftest import Run
from tests.conftest import ROOT
from tests.synthesis.voice.signals import speech

# Tested on their own: they run on, measure for long, or ask a hub.
_ELSEWHERE = {"serve", "bench", "tune", "doctor"}


def shown_commands(readme: str) -> list[list[str]]:
    """Collect `bin/cosykit ...` from the shell blocks, without pipes into it."""
    text = (ROOT / readme).read_text(encoding="utf-8")
    return [
        shlex.split(line, comments=True)[1:]
        for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
        for line in block.splitlines()
        if line.startswith("bin/cosykit ")
    ]


@pytest.fixture
def shelf(folder: Path, lite_models: Path) -> Path:
    """Work where the embedded voice is installed, and all that readers have at hand."""
    (folder / "models").mkdir()
    (folder / "models/lite").symlink_to(lite_models / "lite")
    (folder / "book.txt").write_text("第一章。Hello, 2 readers.", encoding="utf-8")
    for name in ("ref.wav", "speech.wav"):
        write_audio(folder / name, "wav", [AudioChunk(speech(3), 16_000)])
    write_release(folder / "CosyVoice-300M-SFT", "tiny", clones=False)
    write_release(folder / "my-finetune", "tiny")
    return folder


def test_readme_shows_every_command_in_both_languages() -> None:
    shown = shown_commands("README.md")
    speaking = {"say", "vc", "voices", "install", "convert", "config"}
    assert {words[0] for words in shown} == speaking | _ELSEWHERE
    assert shown_commands("README.zh.md") == shown


def test_shown_commands_do_what_they_say(
    run: Run, shelf: Path, cosyvoice_models: Path
) -> None:
    for words in shown_commands("README.md"):
        if words[0] in _ELSEWHERE:
            continue
        if words[0] == "install" and not (shelf / "models" / words[1]).exists():
            # As after the download, which has tests of its own.
            shutil.copytree(cosyvoice_models / words[1], shelf / "models" / words[1])
        outcome = run(*words)
        assert outcome.code == 0, f"{words}: {outcome.err}"
        if "-o" in words:
            output = shelf / words[words.index("-o") + 1]
            # Tiny models say little; nothing at all would be a header.
            assert output.stat().st_size > 1_000, words
            output.unlink()
