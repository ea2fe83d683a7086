"""From a hub on this machine to speech, as a user goes: every step a command."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from cosykit.audio.decode import decode_audio
from cosykit.audio.file import write_audio
from cosykit.convert.synthetic import write_release
from cosykit.types import AudioChunk
from tests.cli.conftest import Outcome, Run, Start
from tests.cli.test_commands import health
from tests.hub.hub_server import HubServer
from tests.synthesis.voice.signals import speech

MODELS = ("cosyvoice-300m-sft", "cosyvoice-300m", "cosyvoice-300m-instruct")
SFT, CLONES, INSTRUCTS = MODELS
TEXT = "今天天气很好。"


@pytest.fixture
def hub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """Both hubs, with tiny models of random weights in the layout of the releases."""
    for name in ("HF_TOKEN", "MODELSCOPE_API_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    with HubServer() as server:
        for model in (
            "CosyVoice-300M-SFT",
            "CosyVoice-300M",
            "CosyVoice-300M-Instruct",
        ):
            release = folder / model
            cloning_alone, built_in_alone = model.endswith("M"), model.endswith("SFT")
            write_release(
                release, "tiny", voices=not cloning_alone, clones=not built_in_alone
            )
            files = {path.name: path.read_bytes() for path in release.iterdir()}
            for owner in ("FunAudioLLM", "iic"):
                server.repositories[f"{owner}/{model}"] = dict(files)
        (folder / "cosykit.yaml").write_text(f"hub:\n  endpoint: {server.address}\n")
        yield server


def done(outcome: Outcome) -> str:
    assert outcome.code == 0, outcome.err
    return outcome.out


def spoken(path: str) -> bytes:
    content = Path(path).read_bytes()
    samples, rate = decode_audio(content)
    assert rate == 22_050
    assert samples.size > 1000
    return content


def test_models_are_installed_speak_learn_a_voice_and_are_mended(
    run: Run, folder: Path, hub: HubServer
) -> None:
    write_audio(folder / "ref.wav", "wav", [AudioChunk(speech(3), 16_000)])
    for model in MODELS:
        done(run("install", model))
    rows = {row["id"]: row for row in json.loads(done(run("models", "--json")))}
    assert {rows[model]["state"] for model in MODELS} == {"installed"}

    say = ("say", TEXT, "--seed", "1")
    clone = ("--prompt-audio", "ref.wav", "--prompt-text", "今天天气很好")
    done(run(*say, "-o", "built-in.wav"))
    done(run(*say, "-o", "cloned.wav", *clone))
    done(run(*say, "-o", "across.wav", "--prompt-audio", "ref.wav"))
    done(run(*say, "-o", "told.wav", "--voice", "zh_male", "--instruct", "Be merry."))
    done(run("voices", "add", "Anna", "--audio", "ref.wav", "--text", clone[-1]))
    done(run(*say, "-o", "anna.wav", "--voice", "Anna"))
    done(run("vc", "ref.wav", "--voice", "Anna", "--seed", "1", "-o", "said-again.wav"))
    names = ("built-in", "cloned", "across", "told", "said-again")
    assert len({spoken(f"{name}.wav") for name in names}) == len(names)
    assert spoken("anna.wav") == spoken("cloned.wav")

    (folder / "models" / CLONES / "int8" / "lm.onnx.data").unlink()
    broken = run("models", "--verify")
    assert broken.code == 4
    assert f"cosykit install {CLONES} --repair" in broken.err
    hub.requests.clear()
    done(run("install", CLONES, "--repair"))
    fetched = {one.label.rpartition(" ")[2] for one in hub.asked("* file *")}
    assert fetched == {"llm.pt"}
    done(run("models", "--verify"))
    done(run(*say, "-o", "anna-again.wav", "--voice", "Anna"))
    assert spoken("anna-again.wav") == spoken("anna.wav")


def test_server_speaks_with_what_was_installed(
    run: Run, start: Start, hub: HubServer
) -> None:
    done(run("install", SFT, "--precision", "fp32"))
    done(run("say", TEXT, "--voice", "zh_female", "--seed", "1", "-o", "said.pcm"))
    server = start("serve", "--port", "0")
    assert server.stderr
    found = re.search(r"http://[\d.:]+", server.stderr.readline().decode())
    assert found
    assert health(found[0], server) == 200
    body = {"input": TEXT, "voice": "zh_female", "seed": 1, "response_format": "pcm"}
    answer = httpx.post(f"{found[0]}/v1/audio/speech", json=body, timeout=60)
    assert answer.headers["x-cosykit-model"] == SFT
    assert answer.headers["x-cosykit-precision"] == "fp32"
    assert answer.content == Path("said.pcm").read_bytes()
    server.send_signal(signal.SIGTERM)
    server.communicate(timeout=20)
    assert server.returncode == 0
