"""`cosykit tune`: find the settings that serve most users on this machine."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from shutil import copymode
from typing import TYPE_CHECKING, Annotated

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
from cosykit.errors import BusyError

if TYPE_CHECKING:
    from cosykit.ops.load.report import LoadResult
    from cosykit.ops.tune import Split, Tuning

_BAR = 20


def tune(
    context: typer.Context,
    target: Annotated[
        float,
        typer.Option(min=0.001, help="Most seconds to the first audio, of 95 in 100."),
    ] = 3.0,
    seconds: Annotated[
        float, typer.Option(min=1, help="How long each level of users is measured.")
    ] = 20.0,
    write: Annotated[
        bool, typer.Option("--write", help="Write the best into the configuration.")
    ] = False,
    synthetic: Synthetic = None,
    tokens: Tokens = 200,
    model: Model = None,
    models_dir: ModelsDir = None,
    provider: Provider = None,
    precision: Precision = None,
    vocoder_precision: VocoderPrecision = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Measure how many users this machine serves at once, and with which settings.

    Servers are started, and get more and more users until these wait too long for
    their first audio or get no more speech, which takes minutes.
    """
    from cosykit.cli.opening import make_ready
    from cosykit.engines.open import choose_model, engine_of
    from cosykit.ops.load.child_server import synthetic_options
    from cosykit.ops.tune import Goal
    from cosykit.ops.tune import tune as measure

    flags = {
        "model": model,
        "models_dir": models_dir,
        "runtime.provider": provider,
        "runtime.precision": precision,
        "runtime.vocoder_precision": vocoder_precision,
        "runtime.threads": threads,
    }
    loaded = load_configuration(context, flags)
    settings = loaded.settings
    options = synthetic_options(synthetic, tokens)
    if synthetic:
        engine = "cosyvoice"
    else:
        make_ready(settings)
        chosen = choose_model(settings.model, settings.models_dir)
        engine = engine_of(chosen, settings.models_dir)
    note("Starting servers, each for more and more users")
    found = measure(
        settings,
        Goal(target, seconds),
        options,
        batches=engine == "cosyvoice",
        tell=_tell,
    )
    _print(found, target, as_json=json)
    if write and not found.in_time:
        raise BusyError(
            f"nobody had the first audio within {target:g} s, so nothing was written",
            hint="Give a longer --target, or a model or precision that is faster",
        )
    if write:
        _write(loaded.file or Path("cosykit.yaml"), found)


def _tell(split: "Split", level: "LoadResult") -> None:
    speed = f"{level.audio_per_s:.2f} s of speech a second"
    note(f"{_spell(split)}, users {level.users}: {speed}")


def _spell(split: "Split") -> str:
    return f"{split.parallel} x {split.threads} threads"


def _print(found: "Tuning", target: float, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(found) | {"settings": found.settings})
        return
    print_table(
        ("split", "users", "first p95", "total p95", "audio s/s", "", ""),
        _rows(found),
    )
    if not found.in_time:
        note(f"Nobody had the first audio within {target:g} s; this comes nearest")
    for name, value in found.settings.items():
        typer.echo(f"{name}: {value}")


def _rows(found: "Tuning") -> Iterator[list[str]]:
    levels = [level for curve in found.curves for level in curve.levels]
    most = max(level.audio_per_s for level in levels) or 1.0
    for curve in found.curves:
        for level in curve.levels:
            yield [
                _spell(curve.split),
                str(level.users),
                f"{level.first_byte_s.p95:.2f}",
                f"{level.total_s.p95:.2f}",
                f"{level.audio_per_s:.2f}",
                "#" * round(_BAR * level.audio_per_s / most),
                "best" if level is found.level else "",
            ]


def _write(path: Path, found: "Tuning") -> None:
    """Write the best settings; comments and all else of the file survive."""
    from cosykit.config.amend import amend
    from cosykit.hub.atomic import replacing

    text = amend(path, found.settings)
    target = path.resolve()  # which a link to it stays a link to
    with replacing(target) as temporary:
        temporary.touch()
        if target.exists():  # it may hold keys, which are for nobody else's eyes
            copymode(target, temporary)
        temporary.write_text(text, encoding="utf-8")
    note(f"Wrote {path}")
