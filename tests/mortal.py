"""Run command lines that are killed in the middle of their work."""

import subprocess
import sys

# Kills its process at the nth change to the files that there are.
_MORTAL = """
import os, signal, sys
left = int(sys.argv[1])
def hook(event, arguments):
    global left
    writes = event == "open" and isinstance(arguments[1], str) and "w" in arguments[1]
    if writes or event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir"):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
from cosykit.cli.main import main
sys.addaudithook(hook)
try:
    main(sys.argv[2:])
finally:
    print(left)
"""
_ENDLESS = 100_000


def count_changes(*arguments: str) -> int:
    """Run a command to its end and count what it changes."""
    answer = _run(_ENDLESS, arguments)
    assert answer.returncode == 0, answer.stderr
    return _ENDLESS - int(answer.stdout.split()[-1])


def die_at_change(number: int, *arguments: str) -> None:
    """Run a command that is killed just before it makes a change."""
    answer = _run(number, arguments)
    assert answer.returncode == -9, answer.stderr


def _run(life: int, arguments: tuple[str, ...]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", _MORTAL, str(life), *arguments],
        capture_output=True,
        check=False,
        text=True,
    )
