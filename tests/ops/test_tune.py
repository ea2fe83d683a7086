"""The best setting is the one that serves most in time."""

from collections.abc import Sequence

from cosykit.ops.load.report import Latency, LoadResult
from cosykit.ops.tune import Curve, Goal, Split, choose, splits

GOAL = Goal(first_byte_s=1.0, seconds=10)
WIDE, NARROW = Split(2, 1), Split(1, 2)


def level(users: int, p95: float, audio_per_s: float, requests: int = 9) -> LoadResult:
    wait = Latency(p95 / 2, p95, p95)
    return LoadResult(users, 10, requests, {}, {}, wait, wait, 1.0, audio_per_s)


def curves(wide: Sequence[LoadResult], narrow: Sequence[LoadResult]) -> list[Curve]:
    return [Curve(WIDE, wide), Curve(NARROW, narrow)]


def test_cores_are_halved_for_more_runs_at_a_time() -> None:
    expected = [Split(8, 1), Split(4, 2), Split(2, 4), Split(1, 8)]
    assert splits(8, batches=False) == expected
    assert splits(1, batches=False) == [Split(1, 1)]


def test_model_that_batches_runs_once_at_a_time() -> None:
    assert splits(8, batches=True) == [Split(8, 1), Split(4, 1)]


def test_most_speech_in_time_wins() -> None:
    wide = [level(1, 0.2, 2.0), level(2, 0.5, 2.5)]
    narrow = [level(1, 0.3, 1.5), level(4, 0.9, 3.0), level(8, 1.1, 3.5)]
    found = choose(curves(wide, narrow), GOAL)
    assert (found.best, found.level.users, found.in_time) == (NARROW, 4, True)
    assert found.settings == {
        "runtime.threads": 1,
        "engine.parallel": 2,
        "engine.batch_size": 4,
    }


def test_shortest_wait_is_taken_where_none_is_in_time() -> None:
    found = choose(curves([level(1, 1.2, 2.0)], [level(1, 1.1, 1.0)]), GOAL)
    assert (found.best, found.in_time) == (NARROW, False)


def test_level_without_answers_is_not_in_time() -> None:
    silent = level(1, 0.0, 9.0, requests=0)
    found = choose(curves([silent], [level(1, 0.5, 1.0)]), GOAL)
    assert found.best == NARROW
