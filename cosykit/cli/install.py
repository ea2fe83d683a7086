"""`cosykit install`: make a model ready on this machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cosykit.cli.context import (
    ModelsDir,
    Precision,
    VocoderPrecision,
    load_configuration,
)
from cosykit.cli.output import note
from cosykit.cli.transfer import shown_install
from cosykit.errors import NotFoundError

if TYPE_CHECKING:
    from cosykit.config import LoadedSettings
    from cosykit.ops.request import InstallResult


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
    precision: Precision = None,
    vocoder_precision: VocoderPrecision = None,
    keep_source: Annotated[
        bool,
        typer.Option("--keep-source", help="Keep what was downloaded on the disk."),
    ] = False,
    models_dir: ModelsDir = None,
) -> None:
    """Install a model: fetch what is missing, check all of it, mend what is broken.

    Run it again at any time: what is whole is left as it is, a download that was
    interrupted goes on, and another --precision is added to those that are there.
    Tokens for private copies are taken from HF_TOKEN or `hf auth login`, and
    MODELSCOPE_API_TOKEN.
    """
    from cosykit.engines.open import choose_model
    from cosykit.ops import install as ops
    from cosykit.ops.request import Origin, Wish

    flags = {
        "model": model,
        "models_dir": models_dir,
        "hub.source": source,
        "runtime.precision": precision,
        "runtime.vocoder_precision": vocoder_precision,
    }
    loaded = load_configuration(context, flags)
    folder, hub = loaded.settings.models_dir, loaded.settings.hub
    chosen = choose_model(loaded.settings.model, folder)
    if repair:
        _check_presence(folder, chosen)
    note(f"Installing {chosen}{_reason(loaded, chosen)}")
    runtime = loaded.settings.runtime
    origin = Origin(released, repository, revision)
    wish = Wish(
        runtime.precision,
        runtime.vocoder_precision,
        runtime.provider,
        only_repair=repair,
        keep_source=keep_source,
    )
    try:
        with shown_install() as news:
            result = ops.install(chosen, folder, hub, origin, wish, news)
    except KeyboardInterrupt:
        note("Interrupted; the same command goes on where this one was")
        raise
    tell(chosen, result)


def tell(model: str, result: "InstallResult") -> None:
    """Print what an install did."""
    bundle = result.bundle
    done = {
        "present": "was there and is whole",
        "extended": "has what was asked for",
        "repaired": "is repaired",
        "installed": "is installed",
    }
    typer.echo(
        f"{model} {done[result.action]} in {bundle.folder} "
        f"({', '.join(bundle.precisions)}; {bundle.size_bytes / 1e6:.0f} MB)"
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
        return ""
    if loaded.settings.model == chosen:
        return f": the model of the configuration ({origin})"
    return f": no better one is installed, and model is auto ({origin})"
