"""The Python that READMEs and docs show runs as it stands there."""

import re
from pathlib import Path

import pytest

from cosykit.audio.decode import decode_audio
from cosykit.audio.file import write_audio
from cosykit.types import AudioChunk
from tests.conftest import ROOT
from tests.server.conftest import running, settings_for
from tests.synthesis.voice.signals import speech

SHOWN = "127.0.0.1:50000"
PAGES = {
    "README.md": ("hello.mp3", "hello.wav", "clone.mp3"),
    "README.zh.md": ("hello.mp3", "hello.wav", "clone.mp3"),
    "docs/protocols.md": ("live.mp3", "dashscope.mp3"),
}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_shown_python_does_what_it_says(
    page: str,
    cosyvoice_models: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COSYKIT_CONFIG", "cosykit.yaml")
    (tmp_path / "cosykit.yaml").write_text(f"models_dir: {cosyvoice_models}")
    write_audio(tmp_path / "ref.wav", "wav", [AudioChunk(speech(3), 16_000)])
    text = (ROOT / page).read_text(encoding="utf-8")
    shown = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    assert SHOWN in shown
    settings = settings_for("cosyvoice-300m-instruct")
    with running(
        settings.model_copy(update={"models_dir": cosyvoice_models})
    ) as server:
        exec(shown.replace(SHOWN, f"127.0.0.1:{server.port}"), {})
    for name in PAGES[page]:
        samples, _ = decode_audio((tmp_path / name).read_bytes())
        assert samples.size, name
