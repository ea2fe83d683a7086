"""`cosykit convert`: make a model of your own checkpoints ready on this machine."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cosykit.cli.context import (
    ModelsDir,
    Precision,
    VocoderPrecision,
    load_configuration,
)
from cosykit.cli.install import tell
from cosykit.cli.transfer import shown_install
from cosykit.errors import InputError, quoted

if TYPE_CHECKING:
    from cosykit.spec import ModelSpec

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def convert(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder in the released layout.")
    ],
    name: Annotated[
        str | None,
        typer.Option(help="Id of the new model.", show_default="name of the folder"),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Model that it was made from.",
            show_default="by the files of the folder",
        ),
    ] = None,
    precision: Precision = None,
    vocoder_precision: VocoderPrecision = None,
    models_dir: ModelsDir = None,
) -> None:
    """Convert checkpoints of your own, fine-tuned from a CosyVoice model.

    DIR holds cosyvoice.yaml, llm.pt, flow.pt and hift.pt; spk2info.pt gives the
    model built-in voices, campplus.onnx and speech_tokenizer_v1.onnx let it clone
    others. The folder is left as it is. Afterwards the model has a name like any
    other.
    """
    from cosykit.ops import install as ops
    from cosykit.ops.request import Wish

    flags = {
        "models_dir": models_dir,
        "runtime.precision": precision,
        "runtime.vocoder_precision": vocoder_precision,
    }
    settings = load_configuration(context, flags).settings
    chosen = _checked_name(name or folder.resolve().name.lower())
    spec = _base(base, folder)
    runtime = settings.runtime
    wish = Wish(runtime.precision, runtime.vocoder_precision, runtime.provider)
    with shown_install() as news:
        result = ops.convert(folder, spec, chosen, settings.models_dir, wish, news)
    tell(chosen, result)


def _checked_name(name: str) -> str:
    from cosykit.hub.catalog import CATALOG
    from cosykit.plugins import plugin_names

    if not _NAME.fullmatch(name):
        raise InputError(
            f"{quoted(name)} cannot be the name of a model",
            hint="Choose another one with --name: a-z, 0-9, . _ and -",
            param="name",
        )
    if name in CATALOG:
        raise InputError(
            f"{name} is a model of the catalogue",
            hint=f"Choose another --name, or run: cosykit install {name} --from DIR",
            param="name",
        )
    if name == "auto" or name in plugin_names("cosykit.engines"):
        raise InputError(
            f"{name} means something else already",
            hint="Choose another name with --name",
            param="name",
        )
    return name


def _base(named: str | None, folder: Path) -> "ModelSpec":
    """Look up what a model was made from, or tell it by what lies in its folder."""
    from cosykit.hub.catalog import find_entry
    from cosykit.spec import COSYVOICE_300M, COSYVOICE_300M_SFT

    if named is None:
        can_clone = (folder / "campplus.onnx").is_file()
        return COSYVOICE_300M if can_clone else COSYVOICE_300M_SFT
    spec = find_entry(named).spec
    if spec.family != "cosyvoice":
        raise InputError(
            f"{spec.id} is no CosyVoice model",
            hint=f"Try --base {COSYVOICE_300M_SFT.id}",
            param="base",
        )
    return spec
