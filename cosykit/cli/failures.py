"""Tell a failure in one message with its remedy, and exit with its code."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOMEM

import typer

from cosykit.cli.called import as_called
from cosykit.errors import CosykitError, ResourceError


@contextmanager
def told_failures(*, debug: bool) -> Iterator[None]:
    """Turn what is raised inside into a message and an exit code.

    Args:
        debug: Whether to print the traceback too.

    Raises:
        SystemExit: Something failed.
    """
    try:
        yield
    except CosykitError as error:
        if debug:
            traceback.print_exc()
        tell(error.message, error.hint)
        raise SystemExit(error.exit_code) from error
    except KeyboardInterrupt as error:
        # Typer turns those inside a command into this code; some come outside of it.
        raise SystemExit(130) from error
    except (OSError, MemoryError) as error:
        if debug:
            traceback.print_exc()
        tell(*_refusal(error))
        raise SystemExit(ResourceError.exit_code) from error
    except Exception as error:
        if debug:
            traceback.print_exc()
        tell(
            f"unexpected failure: {type(error).__name__}: {error}",
            "This is a bug of CosyKit; --debug shows where it happened",
        )
        raise SystemExit(1) from error


def _refusal(error: OSError | MemoryError) -> tuple[str, str]:
    """Word what the system refuses, and what to do about it."""
    if isinstance(error, MemoryError) or error.errno == ENOMEM:
        return (
            "there is not enough memory for this",
            "Close other programs, or allow this one more; --debug shows where it "
            "happened",
        )
    where = f"{error.filename}: " if error.filename else ""
    return (
        f"the system refuses: {where}{error.strerror or error}",
        "Check permissions and disk space; --debug shows where it happened",
    )


def tell(message: str, hint: str = "") -> None:
    """Print a failure and its remedy to standard error."""
    typer.secho("error: ", err=True, nl=False, fg=typer.colors.RED, bold=True)
    typer.echo(message, err=True)
    if hint:
        typer.echo(f"  {as_called(hint)}", err=True)
