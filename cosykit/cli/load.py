"""The load test of `cosykit bench --load`: many users at once."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cosykit.cli.output import note, print_json, print_table
from cosykit.errors import InputError, quoted

if TYPE_CHECKING:
    from cosykit.config.schema import Settings
    from cosykit.ops.load.measure import Plan
    from cosykit.ops.load.report import LoadResult

_MOST_USERS = 10_000
_ENDS = ("json", "png")


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What `bench` was told of a load test.

    Attributes:
        users: Users at once, level by level, as they were written.
        seconds: How long each level lasts.
        address: A server that runs already; empty to start one.
        repeated: Share of the texts that come again.
        direct: Whether to load the engine without a server.
        synthetic: Model that speaks with random weights, or None.
        tokens: Speech tokens that every line of a text becomes with it.
        output: Where to write, without `.json` and `.png`.
    """

    users: str
    seconds: float
    address: str = ""
    api_key: str = ""
    voice: str | None = None
    repeated: float = 0.0
    direct: bool = False
    synthetic: str | None = None
    tokens: int = 200
    output: Path | None = None


def bench_load(settings: "Settings", options: LoadOptions, *, as_json: bool) -> None:
    """Load a server and print what its users got.

    Raises:
        InputError: The users are no numbers.
        CosykitError: There is no server, or none can be started.
    """
    from cosykit.ops.load.measure import Plan

    plan = Plan(_levels(options.users), options.seconds)
    load = _load_engine if options.direct else _load_server
    levels = load(settings, options, plan)
    plain: dict[str, object] = {"levels": [asdict(level) for level in levels]}
    if as_json:
        print_json(plain)
    else:
        print_levels(levels)
    if options.output:
        _write(options.output, plain, levels)


def _levels(written: str) -> Sequence[int]:
    try:
        levels = [int(part) for part in written.split(",")]
    except ValueError:
        levels = []
    if not levels or not all(1 <= users <= _MOST_USERS for users in levels):
        raise InputError(
            f"{quoted(written)} is no number of users",
            hint=f"Give 1 to {_MOST_USERS}, or several levels such as 1,2,4,8",
        )
    return levels


def _load_server(
    settings: "Settings", options: LoadOptions, plan: "Plan"
) -> "Sequence[LoadResult]":
    from cosykit.ops.load.child_server import child_server, synthetic_options
    from cosykit.ops.load.measure import measure
    from cosykit.ops.load.texts import short_texts
    from cosykit.ops.load.users import Site

    texts = short_texts(repeated=options.repeated)
    if options.address:
        site = Site(options.address.rstrip("/"), options.api_key, options.voice)
        return asyncio.run(measure(site, plan, texts, tell=_tell))
    extra = synthetic_options(options.synthetic, options.tokens)
    note("Starting a server")
    with child_server(settings, extra) as child:
        site = replace(child.site, voice=options.voice)
        return asyncio.run(measure(site, plan, texts, child.pid, _tell))


def _load_engine(
    settings: "Settings", options: LoadOptions, plan: "Plan"
) -> "Sequence[LoadResult]":
    from cosykit.engines.open import load
    from cosykit.ops.load.direct import measure_direct
    from cosykit.ops.load.texts import short_texts
    from cosykit.ops.synthetic import synthetic_model

    texts = short_texts(repeated=options.repeated)
    if options.synthetic:
        opened = synthetic_model(settings, options.synthetic, options.tokens, note)(
            settings
        )
    else:
        opened = load(settings=settings)
    return asyncio.run(measure_direct(opened, settings.engine, plan, texts, _tell))


def _tell(level: "LoadResult") -> None:
    note(f"users {level.users}: {level.audio_per_s:.2f} s of speech a second")


def _write(
    output: Path, plain: dict[str, object], levels: "Sequence[LoadResult]"
) -> None:
    from cosykit.hub.atomic import replacing
    from cosykit.ops.load.picture import draw

    document, picture = (output.with_name(f"{output.name}.{end}") for end in _ENDS)
    with replacing(document) as temporary:
        temporary.write_text(json.dumps(plain, indent=2), encoding="utf-8")
    draw(levels, "Speech under load", picture)
    note(f"Wrote {document} and {picture}")


def print_levels(levels: "Sequence[LoadResult]") -> None:
    """Print what users got, a line a level; times are in seconds."""
    columns = (
        *("users", "answers", "refused", "errors"),
        *("first p50", "p95", "p99", "total p50", "p95", "p99"),
        *("requests/s", "audio s/s", "memory MB", "CPU s/audio s"),
    )
    print_table(columns, map(_row, levels))


def _row(level: "LoadResult") -> list[str]:
    first, total = level.first_byte_s, level.total_s
    refused, errors = sum(level.refused.values()), sum(level.errors.values())
    times = (first.p50, first.p95, first.p99, total.p50, total.p95, total.p99)
    rates = (level.requests_per_s, level.audio_per_s)
    return [
        *map(str, (level.users, level.requests, refused, errors)),
        *(f"{value:.2f}" for value in (*times, *rates)),
        "" if level.peak_memory_mb is None else f"{level.peak_memory_mb:.0f}",
        "" if level.cpu_per_audio_s is None else f"{level.cpu_per_audio_s:.3f}",
    ]
