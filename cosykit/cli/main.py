"""The command line: its commands, the options of all of them, and its entry point."""

import os
import signal
import sys
from collections.abc import Sequence
from io import FileIO, TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import Annotated, NoReturn

import typer

from cosykit import __version__
from cosykit.cli.bench import bench
from cosykit.cli.called import CalledFormatter
from cosykit.cli.config import config
from cosykit.cli.context import Invocation
from cosykit.cli.convert import convert
from cosykit.cli.doctor import doctor
from cosykit.cli.failures import told_failures
from cosykit.cli.install import install
from cosykit.cli.models import models
from cosykit.cli.say import say
from cosykit.cli.serve import serve
from cosykit.cli.tune import tune
from cosykit.cli.vc import vc
from cosykit.cli.voices import voices
from cosykit.errors import ResourceError

app = typer.Typer(
    name="cosykit",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    *(say, vc, serve, install, convert, models),
    *(doctor, bench, tune, config),
):
    app.command()(command)
app.add_typer(voices, name="voices")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command line and exit with its code; see `cosykit.errors` for the codes."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(number, _terminate)
    _open_closed_streams()
    _print_any_character()
    ordered = common_options_first(given)
    debug = "--debug" in ordered or bool(os.environ.get("COSYKIT_DEBUG"))
    with told_failures(debug=debug):
        _check_folder()
        try:
            app(ordered, prog_name="cosykit")
        finally:
            _deliver()
    raise SystemExit(0)


def common_options_first(arguments: Sequence[str]) -> list[str]:
    """Let `--config` and `--debug` stand behind the command as well as before it."""
    common: list[str] = []
    others: list[str] = []
    left = iter(arguments)
    for argument in left:
        if argument == "--":
            others += [argument, *left]
        elif argument == "--config":
            value = next(left, None)
            if value is None:
                return [argument]  # Typer says that it needs one
            common += [argument, value]
        elif argument == "--debug" or argument.startswith("--config="):
            common.append(argument)
        else:
            others.append(argument)
    return common + others


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cosykit {__version__}")
        raise typer.Exit


@app.callback()
def common_options(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            help="Configuration file; `cosykit config` tells which is read without it.",
            show_default=False,
        ),
    ] = None,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks and debug messages.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            callback=_show_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Turn text into speech, on this machine.

    `--config` and `--debug` may stand before or behind the command.
    """
    import logging

    level = logging.DEBUG if debug else logging.WARNING
    shown = logging.StreamHandler()
    shown.setFormatter(CalledFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[shown])
    context.obj = Invocation(config, debug)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """Unwind on a signal, so that no half-written file stays behind."""
    raise SystemExit(128 + number)


def _open_closed_streams() -> None:
    """Put something in the place of what the caller closed, as `>&-` does.

    Otherwise a file of ours would get the descriptor, and with it what libraries print.
    Standard output opens for reading only: what is written to it fails, and is told.
    """
    for name, mode, flags in (
        ("stdin", "r", os.O_RDONLY),
        ("stdout", "w", os.O_RDONLY),
        ("stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            unbuffered = FileIO(os.open(os.devnull, flags), mode)
            setattr(sys, name, TextIOWrapper(unbuffered, write_through=True))


def _deliver() -> None:
    """Write out what still waits in standard output, so that a failure is told."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # What cannot be written now cannot be at the end of the process either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise SystemExit(1) from error
        raise


def _check_folder() -> None:
    try:
        Path.cwd()
    except FileNotFoundError as error:
        raise ResourceError(
            "the current folder was deleted", hint="Change to another one with cd"
        ) from error


def _print_any_character() -> None:
    """Show what a terminal cannot encode as an escape instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
