"""`cosykit voices`: list the voices of a model; add, remove, export and import some."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cosykit.cli.context import Json, Model, ModelsDir, load_configuration
from cosykit.cli.language import Spoken
from cosykit.cli.output import note, print_json, print_table
from cosykit.errors import InputError, ModelLoadError

if TYPE_CHECKING:
    from cosykit.config import Settings
    from cosykit.seams import VoiceKeeper
    from cosykit.synthesis.voice.store import VoiceStore
    from cosykit.types import Voice

voices = typer.Typer(invoke_without_command=True)

Name = Annotated[str, typer.Argument(help="What to call the voice.")]
Known = Annotated[str, typer.Argument(help="Id of an added voice.")]
Replace = Annotated[
    bool, typer.Option("--replace", help="Take the place of a voice of that name.")
]


@voices.callback()
def list_voices(
    context: typer.Context,
    model: Model = None,
    models_dir: ModelsDir = None,
    json: Json = False,
) -> None:
    """List the voices of a model; with a subcommand, add, remove or share some."""
    if context.invoked_subcommand:
        if model or models_dir or json:
            raise InputError(
                "an option stands before the subcommand",
                hint=f"Put it behind `voices {context.invoked_subcommand}`",
            )
        return
    _list(context, model, models_dir, json=json)


@voices.command(name="list", hidden=True)
def list_again(
    context: typer.Context,
    model: Model = None,
    models_dir: ModelsDir = None,
    json: Json = False,
) -> None:
    """List the voices of a model, as `voices` does without a subcommand."""
    _list(context, model, models_dir, json=json)


def _list(
    context: typer.Context, model: str | None, models_dir: Path | None, *, json: bool
) -> None:
    loaded = load_configuration(context, {"model": model, "models_dir": models_dir})
    name, listed = _listed(loaded.settings)
    if json:
        print_json([asdict(voice) for voice in listed])
        return
    _print(listed)
    if not listed:
        note(
            f"{name} has no voice yet. Add one: "
            f"cosykit voices add NAME --audio FILE --text WORDS --model {name}"
        )
    elif others := _installed_beside(name, loaded.settings.models_dir):
        note(f"These are the voices of {name}; see also --model {', '.join(others)}")


@voices.command()
def add(
    context: typer.Context,
    name: Name,
    audio: Annotated[
        Path,
        typer.Option(help="Recording of 3 to 10 s of clear speech by one person."),
    ],
    text: Annotated[str, typer.Option(help="What is said in it, word for word.")] = "",
    language: Spoken = None,
    replace: Replace = False,
    model: Model = None,
    models_dir: ModelsDir = None,
) -> None:
    """Clone a voice from a recording and keep it.

    Without --text the voice is less like, but speaks other languages as well.
    """
    from cosykit.audio.decode import read_recording
    from cosykit.types import known_language

    settings = _settings(context, model, models_dir)
    spoken = known_language(language)
    recording = read_recording(audio, text)
    with _keeper(settings) as keeper:
        remarks = keeper.add_voice(
            name, recording, (spoken,) if spoken else (), replaces=replace
        )
    for remark in remarks:
        note(f"{remark}.")
    note(f"Added the voice {name} to {settings.model}")


@voices.command()
def remove(
    context: typer.Context,
    name: Known,
    model: Model = None,
    models_dir: ModelsDir = None,
) -> None:
    """Delete an added voice."""
    settings = _settings(context, model, models_dir)
    with _keeper(settings) as keeper:
        keeper.remove_voice(name)
    note(f"Removed the voice {name} from {settings.model}")


# As the HTTP API has it.
voices.command(name="delete", hidden=True)(remove)


@voices.command()
def export(
    context: typer.Context,
    name: Known,
    file: Annotated[Path, typer.Argument(help="File to write.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Overwrite the file.")
    ] = False,
    model: Model = None,
    models_dir: ModelsDir = None,
) -> None:
    """Write a voice to a file that another machine can import."""
    if file == Path("-"):
        raise InputError(
            "a voice is not written to standard output", hint="Name a file"
        )
    settings = _settings(context, model, models_dir)
    _store(settings).export(name, file, replaces=replace)
    note(f"Wrote {file}")


@voices.command(name="import")
def take(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="File that `export` wrote.")],
    name: Annotated[
        str | None,
        typer.Option(help="What to call it here.", show_default="its own name"),
    ] = None,
    replace: Replace = False,
    model: Model = None,
    models_dir: ModelsDir = None,
) -> None:
    """Add a voice from a file that was exported."""
    settings = _settings(context, model, models_dir)
    taken = _store(settings).take(file, name, replaces=replace)
    note(f"Added the voice {taken.id} to {settings.model}")


def _listed(settings: "Settings") -> "tuple[str, Sequence[Voice]]":
    """List the voices, without loading a model where that can be."""
    from cosykit.cli.opening import open_model
    from cosykit.engines.open import choose_model

    model = choose_model(settings.model, settings.models_dir)
    if _has_voice_files(model, settings):
        from cosykit.engines.cosyvoice.voices import open_voices_alone

        return model, open_voices_alone(model, settings).list()
    with open_model(settings) as synthesizer:
        return synthesizer.info.model, synthesizer.voices()


def _installed_beside(model: str, models_dir: Path) -> "Sequence[str]":
    """Name the other installed models, which have voices of their own."""
    from cosykit.hub.bundle import MANIFEST, own_models
    from cosykit.spec import SPECS

    known = dict.fromkeys((*SPECS, *own_models(models_dir)))
    installed = [name for name in known if (models_dir / name / MANIFEST).is_file()]
    return [name for name in installed if name != model]


def _print(listed: "Sequence[Voice]") -> None:
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


def _settings(
    context: typer.Context, model: str | None, models_dir: Path | None
) -> "Settings":
    """Load the configuration; `auto` is a model that voices can be added to."""
    from cosykit.engines.open import choose_model
    from cosykit.engines.suited import suited

    flags = {"model": model, "models_dir": models_dir}
    settings = suited(load_configuration(context, flags).settings, ["zero_shot"])
    chosen = choose_model(settings.model, settings.models_dir)
    return settings.model_copy(update={"model": chosen})


@contextmanager
def _keeper(settings: "Settings") -> "Generator[VoiceKeeper]":
    """Open what keeps the voices of a model, and no more than that."""
    if _has_voice_files(settings.model, settings):
        from cosykit.engines.cosyvoice.voices import open_voices_alone

        yield open_voices_alone(settings.model, settings)
        return
    from cosykit.cli.opening import open_model
    from cosykit.seams import VoiceKeeper
    from cosykit.spec import SPECS
    from cosykit.synthesis.pipeline import unable

    spec = SPECS.get(settings.model)
    if spec and "zero_shot" not in spec.modes:
        raise unable(settings.model, "zero_shot")
    with open_model(settings) as synthesizer:
        if not isinstance(synthesizer.engine, VoiceKeeper):
            raise unable(settings.model, "zero_shot")
        yield synthesizer.engine


def _has_voice_files(model: str, settings: "Settings") -> bool:
    from cosykit.hub.bundle import read_bundle

    bundle = read_bundle(settings.models_dir, model)
    return bundle is not None and bundle.manifest.facts is not None


def _store(settings: "Settings") -> "VoiceStore":
    from cosykit.hub.bundle import read_bundle
    from cosykit.synthesis.voice.store import VoiceStore

    bundle = read_bundle(settings.models_dir, settings.model)
    if bundle is None:
        raise ModelLoadError(
            f"{settings.model} is not installed in {settings.models_dir}",
            hint=f"Run: cosykit install {settings.model}",
        )
    return VoiceStore(bundle)
