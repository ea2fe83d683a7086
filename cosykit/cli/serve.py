"""`cosykit serve`: speak over HTTP."""

from typing import Annotated

import typer

from cosykit.cli.context import (
    Model,
    ModelsDir,
    Precision,
    Provider,
    Synthetic,
    Threads,
    Tokens,
    VocoderPrecision,
    invocation_of,
    load_configuration,
)
from cosykit.cli.output import note


def serve(
    context: typer.Context,
    host: Annotated[
        str | None,
        typer.Option(
            help="Address to listen on; 0.0.0.0 opens it to the network.",
            show_default="configuration",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", "-p", help="0 takes any free one.", show_default="configuration"
        ),
    ] = None,
    synthetic: Synthetic = None,
    tokens: Tokens = 200,
    model: Model = None,
    models_dir: ModelsDir = None,
    provider: Provider = None,
    precision: Precision = None,
    vocoder_precision: VocoderPrecision = None,
    threads: Threads = None,
) -> None:
    """Serve speech over HTTP, with OpenAI's interface and a page to try it.

    Ctrl-C or SIGTERM finishes what runs and stops.
    """
    from cosykit.cli.opening import make_ready
    from cosykit.server.run import serve as run_server

    flags = {
        "server.host": host,
        "server.port": port,
        "model": model,
        "models_dir": models_dir,
        "runtime.provider": provider,
        "runtime.precision": precision,
        "runtime.vocoder_precision": vocoder_precision,
        "runtime.threads": threads,
        "log.level": "debug" if invocation_of(context).debug else None,
    }
    settings = load_configuration(context, flags).settings
    if synthetic:
        from cosykit.ops.synthetic import synthetic_model

        run_server(settings, synthetic_model(settings, synthetic, tokens, note))
    else:
        make_ready(settings)
        run_server(settings)
