"""`cosykit models`: what can be installed, what is, and how to remove it."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cosykit.cli.context import Json, ModelsDir, load_configuration
from cosykit.cli.output import note, print_json, print_table

if TYPE_CHECKING:
    from cosykit.hub.bundle import Bundle
    from cosykit.spec import ModelSpec

State = Literal["installed", "broken", "available"]


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model and how it stands on this machine."""

    id: str
    title: str
    languages: tuple[str, ...]
    sample_rate: int
    state: State
    precisions: tuple[str, ...]
    size_bytes: int


def models(
    context: typer.Context,
    remove: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Delete an installed model.")
    ] = None,
    models_dir: ModelsDir = None,
    json: Json = False,
) -> None:
    """List the models that can be installed and those that are, or remove one."""
    from cosykit.spec import SPECS

    folder = load_configuration(context, {"models_dir": models_dir}).settings.models_dir
    if remove is not None:
        _remove(folder, remove)
        return
    rows = [_row(spec, folder) for spec in SPECS.values()]
    if json:
        print_json([asdict(row) for row in rows])
        return
    print_table(
        ("id", "model", "languages", "state", "precisions", "size"),
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
    note(f"\nModels folder: {folder}")


def _row(spec: "ModelSpec", folder: Path) -> ModelRow:
    from cosykit.errors import ModelLoadError
    from cosykit.hub.bundle import read_bundle

    facts = (spec.id, spec.title, spec.languages, spec.sample_rate)
    try:
        bundle = read_bundle(folder, spec.id)
    except ModelLoadError:
        return ModelRow(*facts, "broken", (), 0)
    if bundle is None:
        return ModelRow(*facts, "available", (), 0)
    state: State = "installed" if _has_every_graph(bundle) else "broken"
    return ModelRow(*facts, state, bundle.precisions, bundle.size_bytes)


def _has_every_graph(bundle: "Bundle") -> bool:
    """Compare sizes only: a list has to be quick, and `doctor` compares the hashes."""
    for path, digest in bundle.manifest.graphs.items():
        graph = bundle.folder / path
        if not graph.is_file() or graph.stat().st_size != digest.size_bytes:
            return False
    return True


def _remove(folder: Path, model: str) -> None:
    from cosykit.errors import NotFoundError
    from cosykit.hub.bundle import remove_bundle
    from cosykit.hub.catalog import find_entry

    name = find_entry(model).spec.id
    if not remove_bundle(folder, name):
        raise NotFoundError(
            f"{name} is not installed in {folder}",
            hint="`cosykit models` lists what is",
            param="model",
        )
    typer.echo(f"Removed {name} from {folder}")
