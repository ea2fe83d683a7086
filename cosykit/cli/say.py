"""`cosykit say`: speak a text into a file, a pipe or the loudspeakers."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cosykit.cli.context import Json, Model, ModelsDir, load_configuration
from cosykit.cli.output import note, print_json
from cosykit.errors import InputError, ResourceError

if TYPE_CHECKING:
    from cosykit.audio.file import WrittenAudio
    from cosykit.cli.narration import Narration
    from cosykit.cli.target import Target
    from cosykit.types import Language


def say(
    context: typer.Context,
    text: Annotated[
        list[str] | None,
        typer.Argument(help="What to say; - or nothing reads standard input."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Read the text from a file.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write; - is standard output. Its ending gives the format.",
            show_default="out.wav",
        ),
    ] = None,
    voice: Annotated[
        str | None,
        typer.Option("--voice", "-v", help="Id or name; see `cosykit voices`."),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option("--language", "-l", help="zh, en, ja; else it is detected."),
    ] = None,
    speed: Annotated[float, typer.Option(help="Tempo, 0.25 to 4.")] = 1.0,
    volume: Annotated[float, typer.Option(help="Gain, 0 to 4.")] = 1.0,
    audio_format: Annotated[
        str | None,
        typer.Option("--format", help="wav, mp3, opus, aac, flac or pcm."),
    ] = None,
    sample_rate: Annotated[
        int | None, typer.Option(help="Samples a second; 0 keeps the model's own.")
    ] = None,
    play: Annotated[bool, typer.Option("--play", help="Play it as well.")] = False,
    json: Json = False,
    model: Model = None,
    models_dir: ModelsDir = None,
) -> None:
    """Speak a text.

    A file appears when it is finished; a run that is cancelled leaves none.
    """
    from cosykit.cli.target import STANDARD_OUTPUT, choose_target
    from cosykit.cli.text_input import read_text

    if json and output == STANDARD_OUTPUT:
        raise InputError(
            "--json and -o - both want standard output",
            hint="Write the audio to a file",
        )
    spoken = read_text(text or [], file)
    loaded = load_configuration(context, {"model": model, "models_dir": models_dir})
    target = choose_target(
        output,
        play=play,
        name=audio_format,
        sample_rate=sample_rate,
        defaults=loaded.settings.audio,
    )

    # NumPy comes with these; what is above fails without waiting for it.
    from cosykit.cli.narration import Narration
    from cosykit.types import SpeechRequest

    request = SpeechRequest(
        spoken,
        voice=voice,
        language=_known_language(language),
        speed=speed,
        volume=volume,
    )
    narration = Narration(loaded.settings, request)
    written = _deliver(narration, target, play=play)
    if json:
        print_json(_report(narration, target, written))
    elif written and target.path != STANDARD_OUTPUT:
        note(
            f"Wrote {target.path}: {narration.duration_s:.1f} s of speech, "
            f"made in {narration.synthesis_s:.1f} s"
        )


def _known_language(code: str | None) -> "Language | None":
    from typing import get_args

    from cosykit.types import Language

    if code is None:
        return None
    known: tuple[Language, ...] = get_args(Language)
    for language in known:
        if language == code.lower():
            return language
    raise InputError(
        f"unknown language {code!r}",
        hint=f"Known: {', '.join(known)}",
        param="language",
    )


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
