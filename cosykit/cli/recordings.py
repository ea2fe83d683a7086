"""Take recordings from the command line: of a voice, or of speech."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cosykit.errors import InputError

if TYPE_CHECKING:
    from cosykit.types import Recording

PromptAudio = Annotated[
    Path | None,
    typer.Option(help="Recording of 3 to 10 s whose voice to speak with."),
]
Seed = Annotated[
    int | None, typer.Option(help="The same one gives the same audio each time.")
]

# Speech to convert may be a chapter; at any rate it has to fit into memory.
_LONGEST_SOURCE_S = 3600.0
_LARGEST_SOURCE_BYTES = 1 << 30


def read_prompt(
    audio: Path | None, text: str | None, voice: str | None
) -> "Recording | None":
    """Read the recording of a voice, if one is given.

    Raises:
        InputError: It cannot be read, a voice is given too, or only its transcript is.
    """
    if audio is None:
        if text is not None:
            raise InputError(
                "--prompt-text tells what is said in a recording, and there is none",
                hint="Give the recording with --prompt-audio",
            )
        return None
    if voice is not None:
        raise InputError(
            "there is a voice and a recording of one as well",
            hint="Give either --voice or --prompt-audio",
        )
    from cosykit.audio.decode import read_recording

    return read_recording(audio, text or "")


def read_source(path: Path) -> "Recording":
    """Read speech that is to be said again.

    Raises:
        InputError: It cannot be read, or is no audio.
        TooLargeError: It is longer than an hour.
    """
    from cosykit.audio.decode import decode_audio
    from cosykit.types import Recording

    samples, sample_rate = decode_audio(
        path, max_duration_s=_LONGEST_SOURCE_S, max_size_bytes=_LARGEST_SOURCE_BYTES
    )
    return Recording(samples, sample_rate)
