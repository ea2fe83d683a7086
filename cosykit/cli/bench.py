"""`cosykit bench`: how fast a model speaks on this machine."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cosykit.cli.context import (
    Json,
    Model,
    ModelsDir,
    Precision,
    Provider,
    Threads,
    load_configuration,
)
from cosykit.cli.output import print_json, print_table

_MEANINGS = {
    "load_s": "to load the model",
    "ttfa_cold_s": "to the first audio, first request",
    "ttfa_s": "to the first audio, later requests",
    "audio_s": "length of the speech",
    "synthesis_s": "to make all of it",
    "rtf": "real time factor: synthesis / audio",
    "peak_rss_mb": "most memory of the process",
}


def bench(
    context: typer.Context,
    text: Annotated[
        list[str] | None,
        typer.Argument(help="What to speak.", show_default="a paragraph in Chinese"),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Read the text from a file.")
    ] = None,
    voice: Annotated[str | None, typer.Option("--voice", "-v", help="Voice.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs after the first.")] = 3,
    batch: Annotated[int, typer.Option(min=1, help="Requests at the same time.")] = 1,
    stream: Annotated[
        bool, typer.Option("--stream", help="Have the audio as soon as can be.")
    ] = False,
    model: Model = None,
    models_dir: ModelsDir = None,
    provider: Provider = None,
    precision: Precision = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Measure loading, first audio, speed and memory; times are in seconds."""
    from cosykit.cli.opening import make_ready
    from cosykit.cli.text_input import read_text

    given = read_text(text or [], file) if text or file else None
    flags = {
        "model": model,
        "models_dir": models_dir,
        "runtime.provider": provider,
        "runtime.precision": precision,
        "runtime.threads": threads,
    }
    settings = load_configuration(context, flags).settings
    make_ready(settings)

    from cosykit.ops import bench as ops

    workload = ops.Workload(
        given or ops.BENCH_TEXT, voice=voice, batch=batch, stream=stream, runs=runs
    )
    result = asdict(ops.bench(settings, workload))
    shown = {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in result.items()
    }
    if json:
        print_json(shown)
        return
    print_table(
        ("measure", "value", ""),
        [(name, str(value), _MEANINGS.get(name, "")) for name, value in shown.items()],
    )
