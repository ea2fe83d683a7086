"""`cosykit voices`: what a model can speak with."""

from dataclasses import asdict

import typer

from cosykit.cli.context import Json, Model, ModelsDir, load_configuration
from cosykit.cli.output import print_json, print_table


def voices(
    context: typer.Context,
    model: Model = None,
    models_dir: ModelsDir = None,
    json: Json = False,
) -> None:
    """List the voices of a model."""
    from cosykit.cli.opening import open_model

    loaded = load_configuration(context, {"model": model, "models_dir": models_dir})
    with open_model(loaded.settings) as synthesizer:
        listed = synthesizer.voices()
    if json:
        print_json([asdict(voice) for voice in listed])
        return
    print_table(
        ("id", "name", "languages", "gender", "description", "also found as"),
        [
            (
                voice.id,
                voice.name,
                " ".join(voice.languages),
                voice.gender or "",
                voice.description,
                " ".join(voice.aliases),
            )
            for voice in listed
        ],
    )
