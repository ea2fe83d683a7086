"""The options of all commands, and how failures end a command line."""

import errno
import os
import resource
import select
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import cosykit
from cosykit.cli.called import as_called
from cosykit.cli.failures import told_failures
from cosykit.cli.main import common_options_first
from cosykit.errors import BusyError, CosykitError, InputError
from tests.cli.conftest import Run, Start
from tests.conftest import ROOT

COMMANDS = (
    "say",
    "serve",
    "install",
    "voices",
    "models",
    "doctor",
    "bench",
    "config",
)


def test_help_names_every_command(run: Run) -> None:
    outcome = run("--help")
    assert outcome.code == 0
    for command in COMMANDS:
        assert f" {command} " in outcome.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(run: Run, command: str) -> None:
    outcome = run(command, "-h")
    assert outcome.code == 0
    assert f"cosykit {command}" in outcome.out


def test_help_answers_within_half_a_second() -> None:
    """The best processor time counts: other work on the machine must not fail this."""
    assert min(processor_time_of_help_s() for _ in range(3)) < 0.5


def processor_time_of_help_s() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "cosykit", "--help"], check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from cosykit.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'pydantic', 'ruamel.yaml', 'onnxruntime', 'starlette'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == ""


def test_version_is_the_package_version(run: Run) -> None:
    assert run("--version").out == f"cosykit {cosykit.__version__}\n"


def test_no_command_shows_the_help(run: Run) -> None:
    outcome = run()
    assert "Usage: cosykit" in outcome.out + outcome.err
    assert outcome.code == 2


@pytest.mark.parametrize("arguments", [("sya",), ("config", "--jsno"), ("models", "x")])
def test_wrong_usage_ends_with_code_2(run: Run, arguments: tuple[str, ...]) -> None:
    outcome = run(*arguments)
    assert outcome.code == 2
    assert "Usage" in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("given", "ordered"),
    [
        (["say", "hi", "--debug"], ["--debug", "say", "hi"]),
        (["say", "--config", "a.yaml", "hi"], ["--config", "a.yaml", "say", "hi"]),
        (["say", "--config=a.yaml"], ["--config=a.yaml", "say"]),
        (["say", "hi", "--config"], ["--config"]),
        (["say", "--", "--debug", "--config"], ["say", "--", "--debug", "--config"]),
    ],
)
def test_common_options_may_stand_behind_the_command(
    given: list[str], ordered: list[str]
) -> None:
    assert common_options_first(given) == ordered


@pytest.mark.parametrize("called", ["bin/cosykit", "/a b/bin/cosykit", ""])
def test_remedies_name_the_command_as_it_was_called(
    run: Run, monkeypatch: pytest.MonkeyPatch, called: str
) -> None:
    monkeypatch.setenv("COSYKIT_COMMAND", called)
    outcome = run("say", "hi", "--model", "cosyvoice-300m")
    name = shlex.quote(called) if called else "cosykit"
    assert f"  Run: {name} install cosyvoice-300m\n" in outcome.err


def test_only_the_command_takes_the_name_it_was_called_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COSYKIT_COMMAND", "./cosykit")
    hint = (
        "Remove ~/cosykit or move it; run `cosykit doctor`, CosyKit reads cosykit.yaml"
    )
    assert as_called(hint) == hint.replace("`cosykit", "`./cosykit")


def test_expected_failure_is_a_message_a_remedy_and_a_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as exited, told_failures(debug=False):
        raise BusyError("it is busy", hint="Wait")
    assert exited.value.code == 7
    assert capsys.readouterr().err == "error: it is busy\n  Wait\n"


@pytest.mark.parametrize("error", [MemoryError(), OSError(errno.ENOMEM, "no memory")])
def test_want_of_memory_is_no_bug(
    capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    with pytest.raises(SystemExit) as exited, told_failures(debug=False):
        raise error
    assert exited.value.code == 6
    assert "error: there is not enough memory" in capsys.readouterr().err


def test_bug_is_a_message_and_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited, told_failures(debug=False):
        raise KeyError("x")
    assert exited.value.code == 1
    error = capsys.readouterr().err
    assert "unexpected failure: KeyError: 'x'" in error
    assert "--debug" in error
    assert "Traceback" not in error


@pytest.mark.parametrize("error", [InputError("bad"), KeyError("x")])
def test_debug_shows_the_traceback_before_the_message(
    capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    with pytest.raises(SystemExit), told_failures(debug=True):
        raise error
    shown = capsys.readouterr().err
    assert shown.index("Traceback") < shown.index("error: ")


def test_debug_comes_from_flag_and_environment(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Traceback" not in run("config", "--config", "none.yaml").err
    assert "Traceback" in run("config", "--config", "none.yaml", "--debug").err
    monkeypatch.setenv("COSYKIT_DEBUG", "1")
    assert "Traceback" in run("config", "--config", "none.yaml").err


def test_documented_exit_codes_are_those_of_the_errors() -> None:
    table = cosykit.errors.__doc__ or ""
    assert f"\n| {CosykitError.exit_code} " in table
    for error in CosykitError.__subclasses__():
        assert f"\n| {error.exit_code} " in table


def test_reader_that_goes_away_is_no_failure(folder: Path) -> None:
    command = f"{sys.executable} -m cosykit config --json | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stderr == ""


def open_for_writing(pipe: Path, reader: "subprocess.Popen[bytes]") -> int:
    """Open a pipe as soon as its reader has opened it."""
    while reader.poll() is None:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            assert error.errno == errno.ENXIO
            select.select([], [], [], 0.01)
    pytest.fail(f"the reader ended with code {reader.returncode}")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_signal_ends_quietly_with_its_code(
    start: Start, folder: Path, number: signal.Signals, code: int
) -> None:
    text = folder / "text"
    os.mkfifo(text)  # reading it waits for a writer that never comes
    process = start("say", "-f", str(text))
    writer = open_for_writing(text, process)
    process.send_signal(number)
    _, error = process.communicate(timeout=20)
    os.close(writer)
    assert process.returncode == code
    assert b"Traceback" not in error


# Presses Ctrl-C when a module is imported, then does what the console script does.
_INTERRUPTED = """
import signal, sys
def hook(event, arguments):
    if event == "import" and arguments[0] == sys.argv[1]:
        signal.raise_signal(signal.SIGINT)
sys.addaudithook(hook)
signal.signal(signal.SIGINT, signal.default_int_handler)
from {module} import {function}
sys.exit({function}())
"""


@pytest.mark.parametrize("module", ["cosykit.cli.main", "typer", "cosykit.cli.voices"])
def test_interrupt_while_modules_are_imported_is_as_quiet(module: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    start, function = project["scripts"]["cosykit"].split(":")
    code = _INTERRUPTED.format(module=start, function=function)
    done = subprocess.run(
        [sys.executable, "-c", code, module], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (130, "")


def test_character_that_the_terminal_lacks_is_escaped(folder: Path) -> None:
    file = folder / "cosykit.yaml"
    file.write_text("text: {pronunciations: {重: chong2}}", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "cosykit", "config", "--json"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )
    assert done.returncode == 0
    assert rb"\u91cd" in done.stdout


def ended(shell_line: str) -> tuple[int, str]:
    """Run a line of shell with our interpreter as `$PYTHON`; give its code and errors.

    The line is all that touches the standard streams.
    """
    done = subprocess.run(
        ["/bin/sh", "-c", shell_line],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHON": sys.executable},
    )
    return done.returncode, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
@pytest.mark.parametrize("command", ["config", "config --json", "models"])
def test_full_disk_behind_standard_output_is_told(folder: Path, command: str) -> None:
    code, error = ended(f'"$PYTHON" -m cosykit {command} > /dev/full')
    assert code == 6
    assert "No space left on device" in error
    assert "This is a bug" not in error


def test_closed_standard_output_is_told(folder: Path) -> None:
    code, error = ended('"$PYTHON" -m cosykit config >&-')
    assert code == 6
    assert error.startswith("error: ")
    assert "This is a bug" not in error


def test_closed_streams_do_not_matter_to_what_needs_none(tone: Path) -> None:
    code, _ = ended('"$PYTHON" -m cosykit say Hello -o a.wav <&- >&- 2>&-')
    assert code == 0
    assert (tone / "a.wav").stat().st_size > 10_000


def test_deleted_folder_is_told(folder: Path) -> None:
    code, error = ended('mkdir x && cd x && rmdir ../x && "$PYTHON" -m cosykit config')
    assert code == 6
    assert "the current folder was deleted" in error
