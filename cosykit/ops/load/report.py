"""What a load test found, in figures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cosykit.ops.load.users import Answers


@dataclass(frozen=True, slots=True)
class Latency:
    """Percentiles of times in seconds; zero where nothing was answered."""

    p50: float
    p95: float
    p99: float

    @classmethod
    def of(cls, times_s: Sequence[float]) -> "Latency":
        """Compute them."""
        if not times_s:
            return cls(0.0, 0.0, 0.0)
        p50, p95, p99 = np.percentile(times_s, (50, 95, 99))
        return cls(float(p50), float(p95), float(p99))


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What so many users at once got; times in seconds.

    Attributes:
        requests: Requests that were answered whole.
        refused: Those that the server had no room for, by HTTP status.
        errors: Those that failed in any other way, by what happened.
        first_byte_s: From a request to its first audio.
        total_s: From a request to its last audio.
        requests_per_s: Whole answers a second.
        audio_per_s: Seconds of speech a second.
        memory_mb: The server's resident memory at the end; None where it does not say.
        peak_memory_mb: The most that was seen of it.
        cpu_per_audio_s: The server's processor seconds for a second of speech; None
            for a server on another machine.
    """

    users: int
    seconds: float
    requests: int
    refused: Mapping[str, int]
    errors: Mapping[str, int]
    first_byte_s: Latency
    total_s: Latency
    requests_per_s: float
    audio_per_s: float
    memory_mb: float | None = None
    peak_memory_mb: float | None = None
    cpu_per_audio_s: float | None = None


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a server took while users were asking.

    Attributes:
        memory_bytes: Its resident memory, as it was seen now and then.
        cpu_s: Its processor time; None for a server on another machine.
    """

    memory_bytes: Sequence[float] = ()
    cpu_s: float | None = None


def result_of(users: int, answers: Answers, took: Footprint) -> LoadResult:
    """Put what was measured into figures."""
    requests, memory = len(answers.total_s), took.memory_bytes
    has_cpu = took.cpu_s is not None and answers.heard_s > 0
    return LoadResult(
        users=users,
        seconds=answers.period_s,
        requests=requests,
        refused=_named(answers.refused),
        errors=_named(answers.errors),
        first_byte_s=Latency.of(answers.first_byte_s),
        total_s=Latency.of(answers.total_s),
        requests_per_s=requests / answers.period_s,
        audio_per_s=answers.audio_s / answers.period_s,
        memory_mb=memory[-1] / 1e6 if memory else None,
        peak_memory_mb=max(memory) / 1e6 if memory else None,
        cpu_per_audio_s=took.cpu_s / answers.heard_s
        if has_cpu and took.cpu_s is not None
        else None,
    )


def _named(counted: Counter[int] | Counter[str]) -> dict[str, int]:
    return {str(what): number for what, number in sorted(counted.items(), key=str)}
