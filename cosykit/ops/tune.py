"""Find the settings that serve most users on this machine, by measuring.

Threads can be split: one run at a time on all cores, or several on fewer each. For each
split a server is started and gets more and more users, until they wait longer than
they should or it gives no more speech than before. How many that were is its batch.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from cosykit.config.schema import Settings
from cosykit.ops.load.child_server import child_server
from cosykit.ops.load.measure import Plan, measure
from cosykit.ops.load.report import LoadResult
from cosykit.ops.load.texts import short_texts
from cosykit.ops.load.users import Site
from cosykit.runtime.cores import usable_cores

_MOST_USERS = 64
# Less more speech than this for twice the users is none.
_KNEE = 1.05


@dataclass(frozen=True, slots=True)
class Split:
    """How the cores are shared.

    Attributes:
        threads: Threads of one run.
        parallel: Runs at the same time.
    """

    threads: int
    parallel: int


@dataclass(frozen=True, slots=True)
class Curve:
    """How a split holds more and more users.

    Attributes:
        levels: What users got, from one user on.
    """

    split: Split
    levels: Sequence[LoadResult]


@dataclass(frozen=True, slots=True)
class Tuning:
    """What was measured, and what is best.

    Attributes:
        best: The split that served most.
        level: What users got then.
        in_time: Whether they got it within the target; nothing did otherwise.
    """

    curves: Sequence[Curve]
    best: Split
    level: LoadResult
    in_time: bool

    @property
    def settings(self) -> dict[str, str | int | float | bool]:
        """The best settings, by dotted name."""
        return {
            "runtime.threads": self.best.threads,
            "engine.parallel": self.best.parallel,
            "engine.batch_size": self.level.users,
        }


@dataclass(frozen=True, slots=True)
class Goal:
    """What to tune for.

    Attributes:
        first_byte_s: What 95 of 100 users may wait for their first audio.
        seconds: How long each level is measured.
    """

    first_byte_s: float
    seconds: float


def tune(
    settings: Settings,
    goal: Goal,
    serve_options: Sequence[str] = (),
    *,
    batches: bool,
    tell: Callable[[Split, LoadResult], None] = lambda split, level: None,
) -> Tuning:
    """Measure every split of the cores.

    Args:
        serve_options: Options of the servers that are started.
        batches: As of `splits`.
        tell: Hears of each level as soon as it is measured.

    Raises:
        ModelLoadError: A server does not come up.
    """
    cores = settings.runtime.threads or usable_cores()
    curves = []
    for split in splits(cores, batches=batches):
        with child_server(_with(settings, split), serve_options) as child:
            heard = partial(tell, split)
            levels = asyncio.run(_grow(child.site, child.pid, goal, heard))
        curves.append(Curve(split, levels))
    return choose(curves, goal)


def splits(cores: int, *, batches: bool) -> Sequence[Split]:
    """List how cores can be shared.

    Args:
        batches: Whether the model speaks several requests in one run, so that runs
            never are at the same time.
    """
    halves = [1 << power for power in range(cores.bit_length())]
    if batches:
        return [Split(cores // parts, 1) for parts in halves[:2]]
    return [Split(cores // parts, parts) for parts in halves]


def choose(curves: Sequence[Curve], goal: Goal) -> Tuning:
    """Take the level with most speech whose users had their first audio in time.

    If none had, take the one with the shortest wait.
    """
    every = [(curve.split, level) for curve in curves for level in curve.levels]
    in_time = [one for one in every if _is_in_time(one[1], goal)]
    if in_time:
        best, level = max(in_time, key=lambda one: one[1].audio_per_s)
    else:
        best, level = min(every, key=lambda one: one[1].first_byte_s.p95)
    return Tuning(curves, best, level, bool(in_time))


async def _grow(
    site: Site, pid: int, goal: Goal, tell: Callable[[LoadResult], None]
) -> Sequence[LoadResult]:
    """Double the users until they wait too long or get no more."""
    levels: list[LoadResult] = []
    texts = short_texts()
    for users in _doubling():
        plan = Plan([users], goal.seconds, settle_s=goal.seconds / 4)
        (level,) = await measure(site, plan, texts, pid, tell)
        levels.append(level)
        if not _is_in_time(level, goal) or _is_knee(levels):
            break
    return levels


def _doubling() -> Iterator[int]:
    users = 1
    while users <= _MOST_USERS:
        yield users
        users *= 2


def _is_in_time(level: LoadResult, goal: Goal) -> bool:
    return level.requests > 0 and level.first_byte_s.p95 <= goal.first_byte_s


def _is_knee(levels: Sequence[LoadResult]) -> bool:
    if len(levels) < 2:
        return False
    return levels[-1].audio_per_s < levels[-2].audio_per_s * _KNEE


def _with(settings: Settings, split: Split) -> Settings:
    runtime = settings.runtime.model_copy(update={"threads": split.threads})
    engine = settings.engine.model_copy(
        update={"parallel": split.parallel, "batch_size": _MOST_USERS}
    )
    # Nothing may be answered from what was said before.
    cache = settings.cache.model_copy(update={"store": "off"})
    changed = {"runtime": runtime, "engine": engine, "cache": cache}
    return settings.model_copy(update=changed)
