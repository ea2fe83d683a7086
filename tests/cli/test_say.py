"""`cosykit say`, spoken by the example engine."""

import json
import os
import pty
import select
import signal
from pathlib import Path

import pytest

from cosykit.audio.decode import decode_audio
from cosykit.audio.formats import AUDIO_FORMATS
from tests.cli.conftest import Run, Start, everything_from

LETTER_S = 0.08


def length_s(source: Path | bytes) -> float:
    samples, rate = decode_audio(source)
    return samples.size / rate


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "cosykit.yaml")


def test_text_is_written_to_the_file(run: Run, tone: Path) -> None:
    outcome = run("say", "hello", "-o", "speech.wav")
    assert outcome.code == 0
    assert outcome.out == ""
    assert outcome.err.startswith("Wrote speech.wav: 0.4 s of speech")
    assert length_s(tone / "speech.wav") == pytest.approx(5 * LETTER_S)


def test_without_a_name_the_file_is_called_out(run: Run, tone: Path) -> None:
    assert "Wrote out.wav" in run("say", "hello").err
    assert "Wrote out.mp3" in run("say", "hello", "--format", "mp3").err
    assert files_in(tone) == ["out.mp3", "out.wav"]


def test_words_file_and_pipe_are_spoken_alike(run: Run, tone: Path) -> None:
    (tone / "text").write_text("good morning")
    run("say", "good", "morning", "-o", "words.wav")
    run("say", "-f", "text", "-o", "file.wav")
    run("say", "-o", "pipe.wav", stdin=b"good morning")
    speech = {(tone / f"{name}.wav").read_bytes() for name in ("words", "file", "pipe")}
    assert len(speech) == 1


@pytest.mark.parametrize("name", AUDIO_FORMATS)
def test_every_format_is_written(run: Run, tone: Path, name: str) -> None:
    assert run("say", "good morning", "-o", f"speech.{name}").code == 0
    if name == "pcm":
        length = (tone / "speech.pcm").stat().st_size / 2 / 24_000
    else:
        length = length_s(tone / f"speech.{name}")
    assert length == pytest.approx(11 * LETTER_S, abs=0.1)


def test_named_format_wins_over_ending_over_configuration(
    run: Run, tone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COSYKIT_AUDIO_FORMAT", "flac")
    run("say", "hello", "-o", "a.mp3", "--format", "WAV")
    run("say", "hello", "-o", "b.wav")
    run("say", "hello", "-o", "c")
    assert [(tone / name).read_bytes()[:4] for name in ("a.mp3", "b.wav", "c")] == [
        b"RIFF",
        b"RIFF",
        b"fLaC",
    ]


def test_speed_volume_and_rate_reach_the_speech(run: Run, tone: Path) -> None:
    run("say", "hello", "-o", "plain.wav")
    flags = ("--speed", "2", "--volume", "0.5", "--sample-rate", "16000")
    run("say", "hello", "-o", "other.wav", *flags)
    plain, _ = decode_audio(tone / "plain.wav")
    other, rate = decode_audio(tone / "other.wav")
    assert rate == 16_000
    assert other.size / rate == pytest.approx(2.5 * LETTER_S)
    assert abs(other).max() == pytest.approx(abs(plain).max() / 2, rel=0.05)


def test_configured_rate_gives_way_to_the_format_but_a_named_one_does_not(
    run: Run, tone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COSYKIT_AUDIO_SAMPLE_RATE", "44100")
    for name, rate in (("a.wav", 44_100), ("b.opus", 48_000)):
        report = json.loads(run("say", "hello", "-o", name, "--json").out)
        assert report["sample_rate"] == rate
    outcome = run("say", "hello", "-o", "c.opus", "--sample-rate", "44100")
    assert (outcome.code, "opus cannot hold" in outcome.err) == (2, True)


def test_json_tells_what_was_made(run: Run, tone: Path) -> None:
    outcome = run("say", "hello", "-o", "speech.flac", "--json")
    report = json.loads(outcome.out)
    assert outcome.err == ""
    assert report.pop("synthesis_s") >= 0
    assert report.pop("rtf") >= 0
    assert report == {
        "path": "speech.flac",
        "format": "flac",
        "sample_rate": 24_000,
        "duration_s": 0.4,
        "size_bytes": (tone / "speech.flac").stat().st_size,
        "voice": "hum",
        "model": "tone",
    }


def test_audio_goes_to_standard_output(run: Run, tone: Path) -> None:
    outcome = run("say", "hello", "-o", "-")
    assert length_s(outcome.out_bytes) == pytest.approx(5 * LETTER_S)
    assert outcome.err == ""
    assert files_in(tone) == []


def test_reader_that_has_heard_enough_is_no_failure(start: Start, tone: Path) -> None:
    (tone / "text").write_text("la " * 10_000)
    process = start("say", "-f", "text", "-o", "-")
    assert process.stdout
    assert process.stderr
    process.stdout.read(100)
    process.stdout.close()
    assert process.stderr.read() == b""


@pytest.fixture
def player(tone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a player on the PATH that keeps what it hears; give that file."""
    programs = tone.parent / "bin"
    programs.mkdir()
    program = programs / "aplay"
    program.write_text(f"#!/bin/sh\n/bin/cat > {tone.parent}/heard\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    return tone.parent / "heard"


def test_speech_is_played_instead_of_written(
    run: Run, tone: Path, player: Path
) -> None:
    outcome = run("say", "hello", "--play", "--json")
    assert length_s(player) == pytest.approx(5 * LETTER_S)
    assert json.loads(outcome.out)["path"] is None
    assert json.loads(outcome.out)["duration_s"] == 0.4
    assert files_in(tone) == []


def test_speech_is_played_and_written(run: Run, tone: Path, player: Path) -> None:
    assert run("say", "good morning", "--play", "-o", "speech.wav").code == 0
    assert length_s(player) == pytest.approx(11 * LETTER_S)
    assert length_s(tone / "speech.wav") == pytest.approx(11 * LETTER_S)


def test_listener_who_closes_the_player_still_gets_the_file(
    run: Run, tone: Path, player: Path
) -> None:
    program = player.parent / "bin" / "aplay"
    program.write_text("#!/bin/sh\nexit 0\n")
    (tone / "text").write_text("la " * 500)
    assert run("say", "-f", "text", "--play", "-o", "speech.wav").code == 0
    assert length_s(tone / "speech.wav") == pytest.approx(1000 * LETTER_S)


@pytest.mark.parametrize("output", [(), ("-o", "speech.wav")])
def test_missing_player_is_told_and_nothing_is_written(
    run: Run, tone: Path, monkeypatch: pytest.MonkeyPatch, output: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PATH", "")
    outcome = run("say", "hello", "--play", *output)
    assert outcome.code == 6
    assert "no player was found" in outcome.err
    assert files_in(tone) == []


def test_cancelled_run_stops_the_player(start: Start, tone: Path, player: Path) -> None:
    program = player.parent / "bin" / "aplay"
    program.write_text("#!/bin/sh\n/bin/cat > /dev/null\n/bin/sleep 60\n")
    (tone / "text").write_text("la " * 60_000)
    process = start("say", "-f", "text", "--play", "-o", "out.wav")
    while files_in(tone) == ["text"]:
        assert process.poll() is None
        select.select([], [], [], 0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 143
    assert files_in(tone) == ["text"]


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        ((), 2, "the text is empty"),
        ((" ",), 2, "the text is empty"),
        (("x", "-f", "text"), 2, "a file as well"),
        (("-f", "missing"), 2, "cannot read missing"),
        (("x" * 200_001,), 2, "longer than 200,000 characters"),
        (("x\udcff",), 2, "not valid UTF-8 at byte 1"),
        (("x", "--speed", "0"), 2, "speed 0 is out of range"),
        (("x", "--speed", "9"), 2, "speed 9 is out of range"),
        (("x", "--speed", "nan"), 2, "speed nan is out of range"),
        (("x", "--speed", "fast"), 2, "--speed"),
        (("x", "--volume", "5"), 2, "volume 5 is out of range"),
        (("x", "--language", "tlh"), 2, "unknown language 'tlh'"),
        (("x", "--voice", "nobody"), 2, "unknown voice 'nobody'"),
        (("x", "--model", "nothing"), 2, "unknown model 'nothing'"),
        (("x", "--format", "mp4"), 2, "unknown format 'mp4'"),
        (("x", "-o", "speech.xyz"), 2, "'speech.xyz'"),
        (("x", "--sample-rate", "7"), 2, "7 samples a second"),
        (("x", "-o", "a.opus", "--sample-rate", "44100"), 2, "opus cannot hold 44100"),
        (("x", "-o", "-", "--json"), 2, "both want standard output"),
        (("x", "-o", "nowhere/speech.wav"), 6, "The folder does not exist"),
        (("x", "-o", ".", "--format", "wav"), 6, "It is a folder"),
        (("x", "--config", "missing.yaml"), 3, "missing.yaml"),
    ],
)
def test_bad_input_is_one_message_and_its_code(
    run: Run, tone: Path, arguments: tuple[str, ...], code: int, part: str
) -> None:
    outcome = run("say", *arguments)
    assert part in outcome.err
    assert outcome.code == code
    assert "Traceback" not in outcome.err
    assert outcome.out == ""
    assert files_in(tone) == []


def test_unwritable_output_is_told_before_a_model_is_loaded(
    run: Run, folder: Path
) -> None:
    outcome = run("say", "x", "-o", "nowhere/speech.wav", "--model", "lite")
    assert outcome.code == 6
    assert "embedded voice" not in outcome.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_cancelled_run_leaves_the_older_file_and_no_other(
    start: Start, tone: Path, number: signal.Signals
) -> None:
    (tone / "text").write_text("la " * 60_000)
    (tone / "out.wav").write_text("older")
    process = start("say", "-f", "text")
    while len(files_in(tone)) == 2:
        assert process.poll() is None
        select.select([], [], [], 0.01)
    process.send_signal(number)
    # Python kills itself by SIGINT when that came while it ran `exec`, whoever caught
    # the exception; to a shell it is the same code.
    assert process.wait(timeout=20) in (128 + number, -signal.SIGINT)
    assert files_in(tone) == ["out.wav", "text"]
    assert (tone / "out.wav").read_text() == "older"


@pytest.mark.parametrize(
    ("text", "shown"), [("la " * 1_000, True), ("啦" * 100, True), ("la " * 20, False)]
)
def test_progress_is_shown_on_a_terminal_for_long_text(
    start: Start, tone: Path, text: str, shown: bool
) -> None:
    (tone / "text").write_text(text, encoding="utf-8")
    terminal, end = pty.openpty()
    process = start("say", "-f", "text", stderr=end)
    os.close(end)
    assert ("Speaking" in everything_from(terminal)) is shown
    assert process.wait(timeout=20) == 0


def test_no_progress_is_shown_in_a_pipe(start: Start, tone: Path) -> None:
    (tone / "text").write_text("la " * 1_000)
    process = start("say", "-f", "text")
    assert process.stderr
    lines = process.stderr.read().decode().splitlines()
    assert [line[:13] for line in lines] == ["Wrote out.wav"]


def test_audio_is_not_poured_onto_a_terminal(start: Start, tone: Path) -> None:
    terminal, end = pty.openpty()
    process = start("say", "hello", "-o", "-", stdout=end)
    os.close(end)
    assert process.stderr
    assert b"cannot be written to a terminal" in process.stderr.read()
    assert process.wait(timeout=20) == 2
    assert everything_from(terminal) == ""


def test_special_file_is_written_in_place(start: Start, tone: Path) -> None:
    process = start("say", "hello", "-o", "/dev/stdout")
    assert process.stdout
    assert length_s(process.stdout.read()) == pytest.approx(5 * LETTER_S)
    assert process.wait(timeout=20) == 0


@pytest.mark.parametrize("option", ["--model", "--voice", "--format", "--language"])
def test_overlong_name_is_not_echoed_whole(run: Run, tone: Path, option: str) -> None:
    outcome = run("say", "Hello.", option, "x" * 3000)
    assert outcome.code == 2
    assert len(outcome.err) < 500
