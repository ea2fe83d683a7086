"""What the commands share: the configuration in force and the flags that change it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from cosykit.config import LoadedSettings, Override

Model = Annotated[
    str | None,
    typer.Option("--model", "-m", help="Model id.", show_default="configuration"),
]
ModelsDir = Annotated[
    Path | None,
    typer.Option(help="Folder of the models.", show_default="configuration"),
]
Provider = Annotated[
    str | None,
    typer.Option(help="auto, cpu, cuda, tensorrt.", show_default="configuration"),
]
Precision = Annotated[
    str | None,
    typer.Option(help="auto, fp32, fp16, int8, int4.", show_default="configuration"),
]
VocoderPrecision = Annotated[
    str | None,
    typer.Option(help="auto, fp32, fp16, int8.", show_default="configuration"),
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Threads of one run; 0 takes the physical cores.",
        show_default="configuration",
    ),
]
Synthetic = Annotated[
    str | None,
    typer.Option(help="Take this model with random weights, to measure; fetch none."),
]
Tokens = Annotated[
    int, typer.Option(min=1, help="Speech tokens a piece of its text; 50 are 1 s.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@dataclass(frozen=True, slots=True)
class Invocation:
    """The options that all commands have.

    Attributes:
        config: The configuration file asked for.
        debug: Whether to show debug messages.
    """

    config: Path | None = None
    debug: bool = False


def load_configuration(
    context: typer.Context, flags: "Mapping[str, Override] | None" = None
) -> "LoadedSettings":
    """Load the configuration that the common options and some flags ask for.

    Args:
        flags: By dotted name; None means not given.

    Raises:
        ConfigError: The configuration is wrong.
    """
    from cosykit.config import load_settings

    return load_settings(invocation_of(context).config, flags)


def invocation_of(context: typer.Context) -> Invocation:
    """Look up the common options."""
    invocation: object = context.find_root().obj
    return invocation if isinstance(invocation, Invocation) else Invocation()
