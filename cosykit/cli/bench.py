"""`cosykit bench`: how fast a model speaks on this machine."""

from collections.abc import Mapping
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
    Synthetic,
    Threads,
    Tokens,
    VocoderPrecision,
    load_configuration,
)
from cosykit.cli.output import note, print_json, print_table
from cosykit.errors import InputError

_MEANINGS = {
    "load_s": "to load the model",
    "ttfa_cold_s": "to the first audio, first request",
    "ttfa_s": "to the first audio, later requests",
    "audio_s": "length of the speech",
    "synthesis_s": "to make all of it",
    "rtf": "real time factor: synthesis / audio",
    "peak_rss_mb": "most memory of the process",
    "batch": "requests at the same time",
    "lm_prefill_s": "of it to read texts",
    "lm_decode_s": "of it to choose speech tokens",
    "flow_s": "of it for mels",
    "vocoder_s": "of it for samples",
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
    synthetic: Synthetic = None,
    tokens: Tokens = 200,
    load: Annotated[
        str | None,
        typer.Option(
            help="Load a server with so many users at once; 1,4,16 for several levels.",
            metavar="USERS",
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=1, help="How long each level of a load lasts.")
    ] = 30.0,
    url: Annotated[
        str, typer.Option(help="Load this server instead of one that is started.")
    ] = "",
    api_key: Annotated[str, typer.Option(help="Key of that server.")] = "",
    repeat: Annotated[
        float, typer.Option(min=0, max=1, help="Share of texts that come again.")
    ] = 0.0,
    direct: Annotated[
        bool, typer.Option("--direct", help="Load the engine, without a server.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write a load test to NAME.json and .png."),
    ] = None,
    model: Model = None,
    models_dir: ModelsDir = None,
    provider: Provider = None,
    precision: Precision = None,
    vocoder_precision: VocoderPrecision = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Measure loading, first audio, speed and memory; times are in seconds."""
    from cosykit.cli.opening import make_ready
    from cosykit.cli.text_input import read_text

    of_loads = {
        "--url": bool(url),
        "--api-key": bool(api_key),
        "--direct": direct,
        "--repeat": repeat > 0,
        "--output": output is not None,
    }
    of_others = {"TEXT": bool(text), "--file": file is not None, "--stream": stream}
    if load is None:
        _refuse(of_loads, "is of use in a load test only", "Add --load USERS")
    else:
        _refuse(of_others, "is of no use in a load test", "Leave it out, or --load")
    if url:
        at_start = {"--direct": direct, "--synthetic": synthetic is not None}
        _refuse(at_start, "is not for a server that runs already", "Leave out --url")
    given = read_text(text or [], file) if text or file else None
    flags = {
        "model": model,
        "models_dir": models_dir,
        "runtime.provider": provider,
        "runtime.precision": precision,
        "runtime.vocoder_precision": vocoder_precision,
        "runtime.threads": threads,
        "engine.batch_size": batch if batch > 1 else None,
    }
    settings = load_configuration(context, flags).settings
    if not (synthetic or url):
        make_ready(settings)
    if load:
        from cosykit.cli.load import LoadOptions, bench_load

        options = LoadOptions(
            load,
            seconds,
            address=url,
            api_key=api_key,
            voice=voice,
            repeated=repeat,
            direct=direct,
            synthetic=synthetic,
            tokens=tokens,
            output=output,
        )
        bench_load(settings, options, as_json=json)
        return

    from cosykit.ops import bench as ops

    otherwise = ops.ONE_LINE if synthetic else ops.BENCH_TEXT
    workload = ops.Workload(
        given or otherwise, voice=voice, batch=batch, stream=stream, runs=runs
    )
    open_model = None
    if synthetic:
        from cosykit.ops.synthetic import synthetic_model

        open_model = synthetic_model(settings, synthetic, tokens, note)
    note(f"Loading the model, and speaking {2 * runs + 2} times")
    result = asdict(ops.bench(settings, workload, open_model))
    stages = result.pop("stages")
    shown = _rounded(result)
    if json:
        print_json({**shown, "stages": _rounded(stages)})
        return
    shown |= _rounded(stages)
    print_table(
        ("measure", "value", ""),
        [(name, str(value), _MEANINGS.get(name, "")) for name, value in shown.items()],
    )


def _refuse(options: Mapping[str, bool], why: str, hint: str) -> None:
    """Refuse options that were given, rather than ignore them."""
    given = [name for name, is_given in options.items() if is_given]
    if given:
        raise InputError(f"{given[0]} {why}", hint=hint)


def _rounded(measured: Mapping[str, object]) -> dict[str, object]:
    return {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in measured.items()
    }
