"""Deliver the speech of a command: play it, write it, and tell what was made."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cosykit.cli.output import note, print_json
from cosykit.errors import ResourceError

if TYPE_CHECKING:
    from cosykit.audio.file import WrittenAudio
    from cosykit.cli.narration import Narration
    from cosykit.cli.target import Target
    from cosykit.config import Settings
    from cosykit.types import SpeechRequest

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="File to write; - is standard output. Its ending gives the format.",
        show_default="out.wav",
    ),
]
Voice = Annotated[
    str | None,
    typer.Option("--voice", "-v", help="Id or name; see `cosykit voices`."),
]
Speed = Annotated[float, typer.Option(help="Tempo, 0.25 to 4.")]
Volume = Annotated[float, typer.Option(help="Gain, 0 to 4.")]
Format = Annotated[
    str | None, typer.Option("--format", help="wav, mp3, opus, aac, flac or pcm.")
]
SampleRate = Annotated[
    int | None, typer.Option(help="Samples a second; 0 keeps the model's own.")
]
Play = Annotated[bool, typer.Option("--play", help="Play it as well.")]


def speak(
    settings: "Settings",
    request: "SpeechRequest",
    target: "Target",
    *,
    play: bool,
    json: bool,
) -> None:
    """Speak a request with a model that can, deliver it and tell what was made.

    Raises:
        CosykitError: It cannot be spoken, or not be written.
    """
    from cosykit.cli.narration import Narration
    from cosykit.engines.suited import suited
    from cosykit.synthesis.pipeline import modes_of

    able = suited(settings, modes_of(request), request.voice)
    narration = Narration(able, request)
    _tell(narration, target, _deliver(narration, target, play=play), json=json)


def _deliver(
    narration: "Narration", target: "Target", *, play: bool
) -> "WrittenAudio | None":
    """Have the speech made, played and written, all at the same time."""
    from cosykit.audio.file import write_audio, write_stream
    from cosykit.audio.play import play as play_only
    from cosykit.cli.listening import played
    from cosykit.cli.target import STANDARD_OUTPUT

    chunks = narration.chunks()
    if target.path is None:
        play_only(chunks)
        return None
    if play:
        chunks = played(chunks)
    if target.path != STANDARD_OUTPUT:
        return write_audio(
            target.path, target.audio_format, chunks, sample_rate=target.sample_rate
        )
    try:
        return write_stream(
            sys.stdout.buffer,
            target.audio_format,
            chunks,
            sample_rate=target.sample_rate,
        )
    except ResourceError as error:
        # A reader that has heard enough, such as `head`, is told nothing.
        if isinstance(error.__cause__, BrokenPipeError):
            raise error.__cause__ from None
        raise


def _tell(
    narration: "Narration",
    target: "Target",
    written: "WrittenAudio | None",
    *,
    json: bool,
) -> None:
    """Tell what was made, programs on standard output, people beside it."""
    from cosykit.cli.target import STANDARD_OUTPUT

    if json:
        print_json(_report(narration, target, written))
    elif written and target.path != STANDARD_OUTPUT:
        note(
            f"Wrote {target.path}: {narration.duration_s:.1f} s of speech, "
            f"made in {narration.synthesis_s:.1f} s"
        )


def _report(
    narration: "Narration", target: "Target", written: "WrittenAudio | None"
) -> dict[str, object]:
    duration_s, synthesis_s = narration.duration_s, narration.synthesis_s
    return {
        "path": str(target.path) if target.path else None,
        "format": target.audio_format if written else None,
        "sample_rate": written.sample_rate if written else narration.sample_rate,
        "duration_s": round(duration_s, 3),
        "size_bytes": written.size_bytes if written else None,
        "voice": narration.voice,
        "model": narration.model,
        "synthesis_s": round(synthesis_s, 3),
        "rtf": round(synthesis_s / duration_s, 3) if duration_s else None,
    }
