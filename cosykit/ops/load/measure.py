"""Load a server with more and more users, and watch what it takes."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import httpx2
import psutil
from prometheus_client.parser import text_string_to_metric_families

from cosykit.errors import ResourceError
from cosykit.ops.load.report import Footprint, LoadResult, result_of
from cosykit.ops.load.users import Site, open_client, run_users

_WATCH_S = 1.0
_MEMORY = "cosykit_resident_memory_bytes"


@dataclass(frozen=True, slots=True)
class Plan:
    """How to load a server.

    Attributes:
        users: Users at once, level by level.
        seconds: How long each level lasts.
        settle_s: How long a level is let run before it counts.
    """

    users: Sequence[int]
    seconds: float = 30.0
    settle_s: float = 0.0


async def measure(
    site: Site,
    plan: Plan,
    texts: Iterator[str],
    pid: int | None = None,
    tell: Callable[[LoadResult], None] = lambda result: None,
) -> Sequence[LoadResult]:
    """Load a server, level by level.

    Args:
        pid: The server's process, where it runs on this machine.
        tell: Hears of each level as soon as it is done.

    Raises:
        ResourceError: There is no server at the address.
    """
    await _check(site)
    results = []
    for users in plan.users:
        if plan.settle_s:
            await run_users(site, users, plan.settle_s, texts)
        results.append(await _level(site, users, plan.seconds, texts, pid))
        tell(results[-1])
    return results


async def _check(site: Site) -> None:
    async with open_client(site, 1) as client:
        try:
            answer = await client.get("/v1/models")
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ResourceError(
                f"no server answers at {site.address}: {error}",
                hint="Start one with: cosykit serve",
            ) from error
    if answer.status_code != httpx2.codes.OK:
        raise ResourceError(
            f"the server at {site.address} answers {answer.status_code}",
            hint="Give its API key with --api-key, and see whether it is CosyKit",
        )


async def _level(
    site: Site, users: int, seconds: float, texts: Iterator[str], pid: int | None
) -> LoadResult:
    memory: list[float] = []
    cpu_before_s = _cpu_s(pid)
    watching = asyncio.create_task(_watch(site, memory))
    try:
        answers = await run_users(site, users, seconds, texts)
    finally:
        watching.cancel()
        await asyncio.wait({watching})
    cpu_s = _cpu_s(pid) - cpu_before_s if pid else None
    return result_of(users, answers, Footprint(memory, cpu_s))


def _cpu_s(pid: int | None) -> float:
    if pid is None:
        return 0.0
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


async def _watch(site: Site, memory: list[float]) -> None:
    """Ask the server for its memory, on a connection of its own."""
    async with open_client(site, 1) as client:
        while True:
            with suppress(httpx2.HTTPError, ValueError):
                page = (await client.get("/metrics")).text
                memory.extend(_values(page, _MEMORY))
            await asyncio.sleep(_WATCH_S)


def _values(page: str, name: str) -> Iterator[float]:
    for family in text_string_to_metric_families(page):
        yield from (each.value for each in family.samples if each.name == name)
