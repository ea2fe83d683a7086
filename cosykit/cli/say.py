"""`cosykit say`: speak a text into a file, a pipe or the loudspeakers."""

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
from cosykit.cli.language import Spoken
from cosykit.cli.recordings import PromptAudio, Seed, read_prompt


def say(
    context: typer.Context,
    text: Annotated[
        list[str] | None,
        typer.Argument(help="What to say; - or nothing reads standard input."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Read the text from a file.")
    ] = None,
    output: Output = None,
    voice: Voice = None,
    language: Spoken = None,
    prompt_audio: PromptAudio = None,
    prompt_text: Annotated[
        str | None, typer.Option(help="What is said in that recording, word for word.")
    ] = None,
    instruct: Annotated[
        str | None, typer.Option(help="How to say it, for models that follow that.")
    ] = None,
    speed: Speed = 1.0,
    volume: Volume = 1.0,
    audio_format: Format = None,
    sample_rate: SampleRate = None,
    seed: Seed = None,
    top_p: Annotated[
        float, typer.Option(help="Probability of the tokens to choose from.")
    ] = 0.8,
    top_k: Annotated[int, typer.Option(help="Most speech tokens to choose from.")] = 25,
    win_size: Annotated[
        int, typer.Option(help="How many past tokens count as of late.")
    ] = 10,
    tau_r: Annotated[
        float, typer.Option(help="Share of those that has a token drawn again.")
    ] = 0.1,
    play: Play = False,
    json: Json = False,
    model: Model = None,
    models_dir: ModelsDir = None,
) -> None:
    """Speak a text.

    A file appears when it is finished; a run that is cancelled leaves none.
    """
    from cosykit.cli.target import check_output, choose_target
    from cosykit.cli.text_input import read_text

    check_output(output, json=json)
    spoken = read_text(text or [], file)
    loaded = load_configuration(context, {"model": model, "models_dir": models_dir})
    target = choose_target(
        output,
        play=play,
        name=audio_format,
        sample_rate=sample_rate,
        defaults=loaded.settings.audio,
    )
    prompt = read_prompt(prompt_audio, prompt_text, voice)

    # NumPy comes with these; what is above fails without waiting for it.
    from cosykit.types import Sampling, SpeechRequest, known_language

    request = SpeechRequest(
        spoken,
        voice=voice,
        language=known_language(language),
        speed=speed,
        volume=volume,
        instructions=instruct,
        prompt=prompt,
        seed=seed,
        sampling=Sampling(top_p, top_k, win_size, tau_r),
        whole=target.is_waited_for and not play,
    )
    speak(loaded.settings, request, target, play=play, json=json)
