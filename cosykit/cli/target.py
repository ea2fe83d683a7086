"""Decide where speech goes and in which form, before any of it is made."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cosykit.cli.choice import chosen
from cosykit.errors import InputError

if TYPE_CHECKING:
    from cosykit.audio.formats import AudioFormat
    from cosykit.config import AudioSettings

STANDARD_OUTPUT = Path("-")


@dataclass(frozen=True, slots=True)
class Target:
    """Where speech is written.

    Attributes:
        path: The file; `-` is standard output, None is nowhere.
        audio_format: What is written.
        sample_rate: Samples a second; None keeps the engine's own.
    """

    path: Path | None
    audio_format: "AudioFormat"
    sample_rate: int | None

    @property
    def is_waited_for(self) -> bool:
        """Whether nobody can listen before all of it is there."""
        return self.path is not None and self.path != STANDARD_OUTPUT


def check_output(output: Path | None, *, json: bool) -> None:
    """Make sure that a report and audio do not both go to standard output.

    Raises:
        InputError: They would.
    """
    if json and output == STANDARD_OUTPUT:
        raise InputError(
            "--json and -o - both want standard output",
            hint="Write the audio to a file",
        )


def choose_target(
    output: Path | None,
    *,
    play: bool,
    name: str | None,
    sample_rate: int | None,
    defaults: "AudioSettings",
) -> Target:
    """Choose file, format and rate.

    The format is the one that is named, else that of the file's ending, else the
    configured one. With neither a file nor a player it is written to `out.<format>`.

    Args:
        name: The format asked for.

    Raises:
        InputError: The format is unknown, cannot hold the rate, or would end up on a
            terminal.
    """
    from cosykit.audio.formats import (
        AUDIO_FORMATS,
        checked_rate,
        format_of_suffix,
        rate_for,
    )

    if name is not None:
        audio_format = chosen(name, AUDIO_FORMATS, "format")
    elif output is not None and output.suffix:
        audio_format = format_of_suffix(output)
    else:
        audio_format = defaults.format
    rate = sample_rate
    if rate is None and defaults.sample_rate:
        # Of the format that was asked for, the rate next to the configured one.
        rate = rate_for(audio_format, defaults.sample_rate)
    if rate:
        checked_rate(audio_format, rate)
    if output == STANDARD_OUTPUT and sys.stdout.isatty():
        raise InputError(
            "audio cannot be written to a terminal",
            hint="Send it into a pipe or a file, or use --play",
        )
    if output is None and not play:
        output = Path(f"out.{audio_format}")
    return Target(output, audio_format, rate or None)
