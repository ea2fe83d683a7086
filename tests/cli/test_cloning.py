"""Clone, convert and instruct with tiny models of random weights, and keep voices."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from cosykit.audio.decode import decode_audio
from cosykit.audio.file import write_audio
from cosykit.audio.formats import AudioFormat
from cosykit.types import AudioChunk, Samples
from tests.cli.conftest import Run
from tests.synthesis.voice.signals import silence, speech

CLONES, SFT, INSTRUCTS = (f"cosyvoice-300m{end}" for end in ("", "-sft", "-instruct"))
TEXT = "你好。"


def record(path: str, samples: Samples, rate: int = 16_000) -> None:
    suffix: AudioFormat = "mp3" if path.endswith("mp3") else "wav"
    write_audio(Path(path), suffix, [AudioChunk(samples, rate)])


@pytest.fixture
def cloner(folder: Path, cosyvoice_models: Path) -> Path:
    """Work where the model without a voice is installed; give the model's folder."""
    shutil.copytree(cosyvoice_models / CLONES, folder / "models" / CLONES)
    record("reference.wav", speech(3))
    return folder / "models" / CLONES


@pytest.fixture
def all_models(
    folder: Path, cosyvoice_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work where all three models are installed, and change none of them."""
    monkeypatch.setenv("COSYKIT_MODELS_DIR", str(cosyvoice_models))
    record("reference.wav", speech(3))


def spoken(path: str = "out.wav") -> bytes:
    content = Path(path).read_bytes()
    samples, rate = decode_audio(content)
    assert rate == 22_050
    assert samples.size
    return content


@pytest.mark.usefixtures("all_models")
def test_recording_lends_its_voice_to_a_text(run: Run) -> None:
    outputs = set()
    for prompt in (
        ("--prompt-audio", "reference.wav", "--prompt-text", "今天天气很好"),
        ("--prompt-audio", "reference.wav"),
        ("--model", INSTRUCTS),
    ):
        outcome = run("say", TEXT, "--seed", "1", *prompt)
        assert outcome.err.startswith("Wrote out.wav"), outcome.err
        outputs.add(spoken())
    assert len(outputs) == 3


@pytest.mark.usefixtures("all_models")
def test_same_seed_gives_the_same_audio_and_sampling_another(run: Run) -> None:
    flags = ("--prompt-audio", "reference.wav", "--seed")
    for name, *more in (
        ("a", "7"),
        ("b", "7"),
        ("c", "8"),
        ("d", "7", "--top-k", "1"),
        ("e", "7", "--top-p", "0.01"),
    ):
        assert run("say", TEXT * 3, "-o", f"{name}.wav", *flags, *more).code == 0
    a, b, c, d, e = (spoken(f"{name}.wav") for name in "abcde")
    assert a == b
    assert len({a, c, d, e}) == 4


@pytest.mark.usefixtures("all_models")
def test_flaws_of_the_recording_are_told(run: Run) -> None:
    record("brief.mp3", speech(2, rate=44_100), 44_100)
    outcome = run("say", TEXT, "--prompt-audio", "brief.mp3", "--json")
    assert outcome.err == "The recording is short, 3 to 10 s clone better.\n"
    assert json.loads(outcome.out)["voice"] == ""
    assert json.loads(outcome.out)["model"] == CLONES


@pytest.mark.usefixtures("all_models")
def test_model_that_can_is_taken_where_the_choice_is_open(run: Run) -> None:
    def model_of(*flags: str) -> object:
        return json.loads(run("say", TEXT, "--json", *flags).out)["model"]

    assert model_of() == SFT
    assert model_of("--prompt-audio", "reference.wav") == CLONES
    assert model_of("--instruct", "Speak merrily") == INSTRUCTS


@pytest.mark.usefixtures("all_models")
@pytest.mark.parametrize(
    ("flags", "part", "remedy"),
    [
        (("--prompt-audio", "reference.wav", "-m", SFT), "does not clone", CLONES),
        (("--instruct", "x", "-m", SFT), "does not follow instructions", INSTRUCTS),
        (("--instruct", "x", "-m", CLONES), "does not follow instr", INSTRUCTS),
        (("-m", CLONES), "no voice of its own", f"NAME --audio FILE .* {CLONES}"),
        (("--prompt-text", "x"), "and there is none", "--prompt-audio"),
        (("--prompt-audio", "reference.wav", "-v", "x"), "as well", "either"),
        (("--prompt-audio", "silent.wav"), "is silent", "clear speech"),
        (("--prompt-audio", "short.wav"), "only 0.5 s of sound", "3 to 10 s"),
        (("--prompt-audio", "long.wav"), "at most 30 s", "3 to 10 s"),
        (("--prompt-audio", "clipped.wav"), "is clipped", "clear speech"),
        (("--prompt-audio", "text.wav"), "no audio that can be read", "WAV, MP3"),
        (("--prompt-audio", "none.wav"), "cannot read the audio file", "path"),
        (("--prompt-audio", "."), "cannot read the audio file", "path"),
        (("--seed", "-1"), "seed -1 is out of range", "0 to 4294967295"),
        (("--top-p", "0"), "top_p 0 is out of range", "0.01 to 1"),
        (("--top-k", "0"), "top_k 0 is out of range", "1 to 4096"),
        (("--win-size", "0"), "win_size 0 is out of range", "1 to 1000"),
        (("--tau-r", "-1"), "tau_r -1 is out of range", "0 to 2"),
    ],
)
def test_request_that_cannot_be_met_names_the_remedy(
    run: Run, flags: tuple[str, ...], part: str, remedy: str
) -> None:
    record("silent.wav", silence(4))
    record("short.wav", speech(0.5))
    record("long.wav", speech(31))
    record("clipped.wav", np.clip(40 * speech(4), -1, 1))
    Path("text.wav").write_text("hello")
    outcome = run("say", TEXT, *flags)
    assert outcome.code == 2
    told, hint = outcome.err.splitlines()
    assert part in told
    assert re.search(remedy, hint)
    assert not Path("out.wav").exists()


@pytest.mark.usefixtures("all_models")
def test_speech_of_any_length_is_said_again(run: Run) -> None:
    record("speech.mp3", speech(12, rate=24_000), 24_000)
    flags = ("vc", "speech.mp3", "--seed", "1")
    assert run(*flags, "--voice", "zh_male", "-o", "a.wav").code == 0
    assert run(*flags, "--voice", "zh_female", "-o", "b.flac").code == 0
    assert run(*flags, "--prompt-audio", "reference.wav", "-o", "c.wav").code == 0
    outputs = ("a.wav", "b.flac", "c.wav")
    first, second, third = (decode_audio(Path(name))[0] for name in outputs)
    assert first.size / 22_050 == pytest.approx(12, abs=0.1)
    assert first.size == second.size == third.size
    assert (first != third).any()
    assert (first != second).any()


@pytest.mark.usefixtures("all_models")
@pytest.mark.parametrize(
    ("name", "flags", "part"),
    [
        ("silent.wav", (), "is silent"),
        ("short.wav", (), "too short to be speech"),
        ("text.wav", (), "no audio that can be read"),
        ("none.wav", (), "cannot read the audio file"),
        ("reference.wav", ("-m", SFT), "does not convert voices"),
        ("reference.wav", ("-m", CLONES), "no voice of its own"),
        ("reference.wav", ("-v", "nobody"), "unknown voice 'nobody'"),
        ("reference.wav", ("--json", "-o", "-"), "both want standard output"),
    ],
)
def test_speech_that_cannot_be_said_again_is_refused(
    run: Run, name: str, flags: tuple[str, ...], part: str
) -> None:
    record("silent.wav", silence(4))
    record("short.wav", speech(0.05))
    Path("text.wav").write_text("hello")
    outcome = run("vc", name, *flags)
    assert outcome.code == 2
    assert part in outcome.err
    assert not Path("out.wav").exists()


def test_added_voice_speaks_like_its_recording_without_the_networks(
    run: Run, cloner: Path
) -> None:
    assert (
        "no voice yet. Add one: cosykit voices add" in run("voices", "-m", CLONES).err
    )
    text = ("--text", "今天的天气，很好")
    assert run("voices", "add", "Anna", "--audio", "reference.wav", *text).code == 0
    prompt = ("--prompt-audio", "reference.wav", "--prompt-text", text[1])
    run("say", TEXT, "--seed", "1", "-o", "recording.wav", *prompt)
    (cloner / "frontend" / "speech_tokenizer.onnx").write_bytes(b"")
    manifest = json.loads((cloner / "manifest.json").read_text())
    del manifest["others"]["frontend/speech_tokenizer.onnx"]
    (cloner / "manifest.json").write_text(json.dumps(manifest))
    # It is the first voice of the model, which `auto` takes from now on.
    outcome = run("say", TEXT, "--seed", "1", "-o", "added.wav", "--json")
    assert json.loads(outcome.out)["voice"] == "Anna"
    assert spoken("added.wav") == spoken("recording.wav")


def test_model_is_not_removed_with_added_voices_unasked(run: Run, cloner: Path) -> None:
    run("voices", "add", "Anna", "--audio", "reference.wav")
    refused = run("models", "--remove", CLONES)
    assert refused.code == 2
    assert "Anna" in refused.err
    assert "voices export" in refused.err
    assert (cloner / "voices" / "Anna.npz").exists()
    assert run("models", "--with-voices").code == 2
    assert run("models", "--remove", CLONES, "--with-voices").code == 0
    assert not cloner.exists()


@pytest.mark.usefixtures("all_models")
def test_list_of_voices_names_the_other_models(run: Run) -> None:
    outcome = run("voices")
    assert "zh_female" in outcome.out
    assert f"voices of {SFT}; see also --model {CLONES}, {INSTRUCTS}\n" in outcome.err
    assert not run("voices", "--json").err


@pytest.mark.usefixtures("cloner")
def test_voices_are_added_listed_shared_and_removed(run: Run) -> None:
    add = ("voices", "add", "Anna", "--audio", "reference.wav")
    outcome = run(*add, "--language", "zh-HK")
    assert outcome.code == 0
    assert outcome.err == f"Added the voice Anna to {CLONES}\n"
    (voice,) = json.loads(run("voices", "--json", "-m", CLONES).out)
    assert voice["id"] == voice["name"] == "Anna"
    assert voice["languages"] == ["yue", "zh", "en", "ja", "ko"]

    assert "a voice Anna already" in run(*add).err
    assert run(*add, "--replace").code == 0
    assert run("voices", "export", "anna", "anna.npz").code == 0
    assert "already exists" in run("voices", "export", "Anna", "anna.npz").err
    assert run("voices", "export", "Anna", "anna.npz", "--replace").code == 0
    assert "a voice Anna already" in run("voices", "import", "anna.npz").err
    assert run("voices", "import", "anna.npz", "--name", "Berta").code == 0
    assert run("voices", "import", "anna.npz", "--replace").code == 0

    listed = run("voices", "--json", "-m", CLONES).out
    assert run("voices", "list", "--json", "-m", CLONES).out == listed
    assert run("voices", "add", "Carl", "--audio", "reference.wav").code == 0
    assert run("voices", "delete", "carl").code == 0
    assert run("voices", "remove", "anna").code == 0
    listed = json.loads(run("voices", "--json").out)
    assert [voice["id"] for voice in listed] == ["Berta"]
    assert "no voice 'anna'" in run("voices", "remove", "anna").err


@pytest.mark.usefixtures("cloner")
@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (("add", "a/b", "--audio", "reference.wav"), 2, "cannot be the name"),
        (("add", "../x", "--audio", "reference.wav"), 2, "cannot be the name"),
        (("add", "auto", "--audio", "reference.wav"), 2, "cannot be called auto"),
        (("add", "x", "--audio", "none.wav"), 2, "cannot read the audio file"),
        (("add", "x", "--audio", "silent.wav"), 2, "is silent"),
        (("add", "x"), 2, "--audio"),
        (("add", "x", "--audio", "reference.wav", "-l", "tlh"), 2, "'tlh'"),
        (("add", "x", "--audio", "reference.wav", "-m", "lite"), 2, "not clone"),
        (("add", "x", "--audio", "reference.wav", "-m", SFT), 2, "not clone"),
        (("add", "x", "--audio", "reference.wav", "-m", INSTRUCTS), 4, "install"),
        (("export", "x", "x.npz"), 2, "no voice 'x'"),
        (("export", "x", "-"), 2, "not written to standard output"),
        (("import", "silent.wav"), 4, "no voice that this version"),
        (("import", "x.npz"), 2, "there is no file x.npz"),
        (("import", "x.npz", "-m", SFT), 4, "is not installed"),
        (("remove", "x"), 2, "no voice 'x'"),
        (("--json", "remove", "x"), 2, "before the subcommand"),
    ],
)
def test_voice_command_that_cannot_be_done_is_told(
    run: Run, arguments: tuple[str, ...], code: int, part: str
) -> None:
    record("silent.wav", silence(4))
    outcome = run("voices", *arguments)
    assert part in outcome.err
    assert outcome.code == code
    assert "Traceback" not in outcome.err
    assert run("voices", "--json", "-m", CLONES).out == "[]\n"


@pytest.mark.usefixtures("all_models")
def test_voice_that_came_with_the_model_stays(run: Run) -> None:
    outcome = run("voices", "remove", "zh_female", "--model", INSTRUCTS)
    assert outcome.code == 2
    assert "came with the model and stays" in outcome.err


def test_model_that_another_version_converted_counts_as_broken(
    run: Run, cloner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COSYKIT_HUB_OFFLINE", "true")
    manifest = cloner / "manifest.json"
    current = manifest.read_text()
    older = re.sub('"graphs_version": [0-9]+', '"graphs_version": 0', current)
    manifest.write_text(older)
    outcome = run("doctor", "--json")
    (found,) = (
        each for each in json.loads(outcome.out) if each["subject"] == f"model {CLONES}"
    )
    assert (outcome.code, found["state"]) == (1, "problem")
    assert "another version" in found["text"]
    assert found["remedy"] == f"Run: cosykit install {CLONES} --repair"
    listed = json.loads(run("models", "--json").out)
    assert {row["id"]: row["state"] for row in listed}[CLONES] == "broken"
