"""`cosykit models`: what can be installed, what is, whether it is whole; remove it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import typer

from cosykit.cli.context import Json, ModelsDir, load_configuration
from cosykit.cli.output import note, print_json, print_table
from cosykit.errors import InputError

State = Literal["installed", "broken", "partial", "available"]


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model and how it stands on this machine.

    Attributes:
        state: `partial` while its download is not done.
        size_bytes: What the installed graphs, or the begun download, take.
        problems: What is wrong with which file, as far as it was looked at.
    """

    id: str
    title: str
    languages: tuple[str, ...] = ()
    sample_rate: int = 0
    state: State = "available"
    precisions: tuple[str, ...] = ()
    size_bytes: int = 0
    problems: Mapping[str, str] = field(default_factory=dict)


def models(
    context: typer.Context,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Read all of the installed ones, check hashes."),
    ] = False,
    remove: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Delete an installed model.")
    ] = None,
    with_voices: Annotated[
        bool,
        typer.Option("--with-voices", help="Delete the voices added to it as well."),
    ] = False,
    models_dir: ModelsDir = None,
    json: Json = False,
) -> None:
    """List the models that can be installed and those that are, or remove one."""
    from cosykit.hub.bundle import own_models
    from cosykit.spec import SPECS

    if remove is not None and (verify or json):
        raise InputError(
            "--remove removes a model, and lists none",
            hint="Leave out --verify and --json, or --remove",
        )
    if with_voices and remove is None:
        raise InputError(
            "--with-voices says what to remove of a model, and none is removed",
            hint="Name it: --remove MODEL",
        )
    folder = load_configuration(context, {"models_dir": models_dir}).settings.models_dir
    if remove is not None:
        _remove(folder, remove, with_voices=with_voices)
        return
    ids = (*SPECS, *own_models(folder))
    rows = [_row(model, folder, verify=verify) for model in ids]
    if json:
        print_json([asdict(row) for row in rows])
    else:
        _print(rows)
        note(f"\nModels folder: {folder}")
    if verify:
        _refuse_broken(rows)


def _print(rows: Sequence[ModelRow]) -> None:
    print_table(
        ("id", "model", "languages", "state", "precision", "size"),
        [
            (
                row.id,
                row.title,
                " ".join(row.languages),
                row.state,
                " ".join(row.precisions),
                f"{row.size_bytes / 1e6:.0f} MB" if row.size_bytes else "",
            )
            for row in rows
        ],
    )


def _row(model: str, folder: Path, *, verify: bool) -> ModelRow:
    from cosykit.engines.cosyvoice.installed import check_version
    from cosykit.errors import ModelLoadError
    from cosykit.hub.bundle import MANIFEST, read_bundle, spec_of
    from cosykit.hub.staging import Staging
    from cosykit.spec import SPECS

    staging = Staging(folder, model)
    spec = SPECS.get(model)
    try:
        spec = spec or spec_of(folder, model)
        facts = (model, spec.title, spec.languages, spec.sample_rate)
        bundle = read_bundle(folder, model)
        if bundle and bundle.manifest.facts:
            check_version(bundle)
    except ModelLoadError as error:
        title = spec.title if spec else "Your own"
        return ModelRow(
            model, title, state="broken", problems={MANIFEST: error.message}
        )
    if bundle is None:
        begun_bytes = staging.size_bytes
        state: State = "partial" if begun_bytes else "available"
        return ModelRow(*facts, state, size_bytes=begun_bytes)
    if verify:
        kept = {f"source/{path}": why for path, why in staging.problems().items()}
        problems = {**bundle.problems(), **kept}
    else:
        problems = dict(bundle.problems(by_size=True))  # a list has to be quick
    return ModelRow(
        *facts,
        "broken" if problems else "installed",
        bundle.precisions,
        bundle.size_bytes,
        problems,
    )


def _refuse_broken(rows: Sequence[ModelRow]) -> None:
    from cosykit.errors import ModelLoadError

    broken = [row for row in rows if row.problems]
    for row in broken:
        for path, problem in row.problems.items():
            note(f"{row.id}: {path}: {problem}")
    if broken:
        repairs = ", ".join(f"cosykit install {row.id} --repair" for row in broken)
        raise ModelLoadError(
            f"not whole: {', '.join(row.id for row in broken)}",
            hint=f"Run: {repairs}",
        )


def _remove(folder: Path, model: str, *, with_voices: bool) -> None:
    from cosykit.errors import NotFoundError
    from cosykit.hub.bundle import own_models, readable_bundle, remove_bundle
    from cosykit.hub.catalog import find_entry
    from cosykit.synthesis.voice.store import added_voices

    name = model if model in own_models(folder) else find_entry(model).spec.id
    # A broken model cannot tell; a repair would keep its voices.
    bundle = None if with_voices else readable_bundle(folder, name)
    if bundle and (added := added_voices(bundle)):
        raise InputError(
            f"{name} has voices that are nowhere else: {', '.join(added)}",
            hint="Keep them with `cosykit voices export NAME FILE`, or add "
            "--with-voices to delete them too",
            param="model",
        )
    if not remove_bundle(folder, name, note):
        raise NotFoundError(
            f"{name} is not installed in {folder}",
            hint="`cosykit models` lists what is",
            param="model",
        )
    typer.echo(f"Removed {name} from {folder}")
