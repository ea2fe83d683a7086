"""`cosykit install`: make a model ready on this machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cosykit.cli.context import ModelsDir, load_configuration
from cosykit.cli.output import note
from cosykit.cli.transfer import shown_transfer
from cosykit.errors import NotFoundError

if TYPE_CHECKING:
    from cosykit.config import LoadedSettings


def install(
    context: typer.Context,
    model: Annotated[
        str | None,
        typer.Argument(help="Model id.", show_default="configuration"),
    ] = None,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Mend a model that is installed; never add a new one."
        ),
    ] = False,
    source: Annotated[
        str | None,
        typer.Option(
            help="auto, huggingface, modelscope.", show_default="configuration"
        ),
    ] = None,
    released: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="DIR", help="Folder with the released files; no hub."
        ),
    ] = None,
    repository: Annotated[
        str | None,
        typer.Option(
            "--repo", metavar="OWNER/NAME", help="Another copy of the model on the hub."
        ),
    ] = None,
    revision: Annotated[
        str | None, typer.Option(help="Branch, tag or commit on the hub.")
    ] = None,
    models_dir: ModelsDir = None,
) -> None:
    """Install a model: fetch what is missing, check all of it, mend what is broken.

    Run it again at any time: what is whole is left as it is, and a download that was
    interrupted goes on. Tokens for private copies are taken from HF_TOKEN or
    `hf auth login`, and MODELSCOPE_API_TOKEN.
    """
    from cosykit.engines.open import choose_model
    from cosykit.ops import install as ops

    flags = {"model": model, "models_dir": models_dir, "hub.source": source}
    loaded = load_configuration(context, flags)
    folder, hub = loaded.settings.models_dir, loaded.settings.hub
    chosen = choose_model(loaded.settings.model)
    if repair:
        _check_presence(folder, chosen)
    note(f"Installing {chosen}: {_reason(loaded, chosen)}")
    origin = ops.Origin(released, repository, revision)
    try:
        with shown_transfer() as report:
            result = ops.install(chosen, folder, hub, origin, note, report)
    except KeyboardInterrupt:
        note("Interrupted; the same command goes on where this one was")
        raise
    done = {"present": "was there and is whole", "repaired": "is repaired"}
    typer.echo(
        f"{chosen} {done.get(result.action, 'is installed')} "
        f"in {result.bundle.folder} ({result.bundle.size_bytes / 1e6:.0f} MB)"
    )


def _check_presence(models_dir: Path, model: str) -> None:
    if not (models_dir / model / "manifest.json").exists():
        raise NotFoundError(
            f"{model} is not installed in {models_dir}, there is nothing to repair",
            hint=f"Run: cosykit install {model}",
            param="model",
        )


def _reason(loaded: "LoadedSettings", chosen: str) -> str:
    origin = loaded.origins["model"]
    if origin.kind == "flag":
        return "asked for"
    if loaded.settings.model == chosen:
        return f"the model of the configuration ({origin})"
    return f"the best model for this machine, as model is auto ({origin})"
