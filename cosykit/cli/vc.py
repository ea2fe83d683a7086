"""`cosykit vc`: say recorded speech again in another voice."""

from pathlib import Path
from typing import Annotated

import typer

from cosykit.cli.context import Json, Model, ModelsDir, load_configuration
from cosykit.cli.delivery import deliver, tell
from cosykit.cli.recordings import PromptAudio, Seed, read_prompt, read_source


def vc(
    context: typer.Context,
    source: Annotated[
        Path, typer.Argument(help="Recorded speech, in any common format.")
    ],
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
    prompt_audio: PromptAudio = None,
    speed: Annotated[float, typer.Option(help="Tempo, 0.25 to 4.")] = 1.0,
    volume: Annotated[float, typer.Option(help="Gain, 0 to 4.")] = 1.0,
    audio_format: Annotated[
        str | None,
        typer.Option("--format", help="wav, mp3, opus, aac, flac or pcm."),
    ] = None,
    sample_rate: Annotated[
        int | None, typer.Option(help="Samples a second; 0 keeps the model's own.")
    ] = None,
    seed: Seed = None,
    play: Annotated[bool, typer.Option("--play", help="Play it as well.")] = False,
    json: Json = False,
    model: Model = None,
    models_dir: ModelsDir = None,
) -> None:
    """Say recorded speech again in another voice.

    The voice is one of the model, or that of another recording.
    """
    from cosykit.cli.target import check_output, choose_target

    check_output(output, json=json)
    loaded = load_configuration(context, {"model": model, "models_dir": models_dir})
    target = choose_target(
        output,
        play=play,
        name=audio_format,
        sample_rate=sample_rate,
        defaults=loaded.settings.audio,
    )
    prompt = read_prompt(prompt_audio, None, voice)
    speech = read_source(source)

    from cosykit.cli.narration import Narration
    from cosykit.engines.suited import suited
    from cosykit.synthesis.pipeline import modes_of
    from cosykit.types import SpeechRequest

    request = SpeechRequest(
        "",
        voice=voice,
        speed=speed,
        volume=volume,
        prompt=prompt,
        source=speech,
        seed=seed,
        whole=target.is_waited_for and not play,
    )
    settings = suited(loaded.settings, modes_of(request), voice)
    narration = Narration(settings, request)
    tell(narration, target, deliver(narration, target, play=play), json=json)
