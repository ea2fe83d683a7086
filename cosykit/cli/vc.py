"""`cosykit vc`: say recorded speech again in another voice."""

from pathlib import Path
from typing import Annotated

import typer

from cosykit.cli.context import Json, Model, ModelsDir, load_configuration
from cosykit.cli.delivery import (
    Format,
    Output,
    Play,
    SampleRate,
    Speed,
    Voice,
    Volume,
    speak,
)
from cosykit.cli.recordings import PromptAudio, Seed, read_prompt, read_source


def vc(
    context: typer.Context,
    source: Annotated[
        Path, typer.Argument(help="Recorded speech, in any common format.")
    ],
    output: Output = None,
    voice: Voice = None,
    prompt_audio: PromptAudio = None,
    speed: Speed = 1.0,
    volume: Volume = 1.0,
    audio_format: Format = None,
    sample_rate: SampleRate = None,
    seed: Seed = None,
    play: Play = False,
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
    speak(loaded.settings, request, target, play=play, json=json)
