from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

from cosykit.synthesis.flow.chunks import (
    DEFAULT,
    UPSTREAM,
    WHOLE,
    Chunk,
    Chunks,
    Hops,
    Schedule,
)

OVERLAP = 20
FRAMES_PER_TOKEN = 22_050 / 256 / 50
FRAMES_PER_S = 22_050 / 256


def cut(schedule: Schedule, total: int, *, at_once: bool = False) -> list[Chunk]:
    chunks, found = Chunks(Hops(schedule)), []
    for available in [total] if at_once else range(total + 1):
        while chunk := chunks.next(available, ended=available == total):
            found.append(chunk)
    assert chunks.next(total, ended=True) is None
    return found


def test_upstream_takes_a_hundred_tokens_a_time() -> None:
    assert cut(UPSTREAM, 365) == [
        Chunk(0, 120, last=False),
        Chunk(100, 220, last=False),
        Chunk(200, 320, last=False),
        Chunk(300, 365, last=True),
    ]


def test_whole_utterance_is_one_chunk_once_it_has_ended() -> None:
    assert Chunks(Hops(WHOLE)).next(5000, ended=False) is None
    assert cut(WHOLE, 5000) == [Chunk(0, 5000, last=True)]


def test_missing_tokens_are_those_until_the_next_chunk() -> None:
    chunks = Chunks(Hops(Schedule(hops=(30, 50))))
    assert chunks.missing(0, ended=False) == 30 + OVERLAP + 1
    assert chunks.missing(50, ended=False) == 1
    assert chunks.next(50, ended=False) is None
    assert chunks.missing(60, ended=False) == 0
    assert chunks.next(60, ended=False)
    assert chunks.missing(60, ended=False) == 30 + 50 + OVERLAP + 1 - 60
    assert chunks.missing(60, ended=True) == 0
    assert chunks.next(60, ended=True)
    assert chunks.missing(60, ended=True) is None
    assert Chunks(Hops(WHOLE)).missing(5000, ended=False) is None


def test_utterance_without_tokens_is_one_empty_chunk() -> None:
    assert cut(DEFAULT, 0) == [Chunk(0, 0, last=True)]


def test_hops_grow_until_the_last_one_repeats() -> None:
    schedule = Schedule(hops=(30, 50))
    starts = [chunk.start for chunk in cut(schedule, 200)]
    assert starts == [0, 30, 80, 130]


def test_hops_go_on_growing_from_one_utterance_to_the_next() -> None:
    hops = Hops(Schedule(hops=(30, 50, 70, 90)))
    first, second = Chunks(hops), Chunks(hops)
    assert first.next(60, ended=True) == Chunk(0, 50, last=False)
    assert first.next(60, ended=True) == Chunk(30, 60, last=True)
    # Asking in vain is no step.
    assert second.next(90, ended=False) is None
    assert second.next(300, ended=False) == Chunk(0, 90, last=False)
    assert second.next(300, ended=False) == Chunk(70, 180, last=False)


@pytest.mark.parametrize("schedule", [UPSTREAM, DEFAULT])
@pytest.mark.parametrize("total", [1, 20, 70, 71, 119, 120, 121, 220, 221, 600])
def test_chunks_do_not_depend_on_when_they_are_asked_for(
    schedule: Schedule, total: int
) -> None:
    assert cut(schedule, total) == cut(schedule, total, at_once=True)


@pytest.mark.parametrize("total", [1, 70, 71, 120, 121, 341])
def test_chunks_hold_every_token_and_overlap_by_twenty(total: int) -> None:
    chunks = cut(DEFAULT, total)
    assert chunks[0].start == 0
    assert chunks[-1].end == total
    assert [chunk.last for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    for before, after in pairwise(chunks):
        assert before.end - after.start == OVERLAP
    # The end is more than what was held back.
    assert len(chunks) == 1 or chunks[-1].end - chunks[-1].start > OVERLAP


@dataclass(frozen=True)
class Machine:
    """What a machine with two cores takes for each stage, all of it in turn."""

    slowness: float
    prefill_s: float = 0.1
    token_s: float = 1 / 120
    flow_frame_s: float = 0.004
    vocoder_frame_s: float = 0.003


def played(machine: Machine, schedule: Schedule, total: int) -> tuple[float, float]:
    """Give the time of the first audio, and the least that was left to play."""
    # Frames that the fade and the vocoder hold back, and context on a side of a piece.
    faded, held, context = 16, 19, 14
    now_s, taken, spoken, first_s, left_s = machine.prefill_s, 0, 0.0, 0.0, np.inf
    for chunk in cut(schedule, total):
        needed = min(chunk.end + 1, total)
        now_s += (needed - taken) * machine.token_s
        taken = needed
        frames = (chunk.end - chunk.start) * FRAMES_PER_TOKEN
        ready = chunk.end * FRAMES_PER_TOKEN - (0 if chunk.last else faded + held)
        now_s += frames * machine.flow_frame_s
        decoded = ready - spoken + (2 if spoken else 1) * context
        now_s += decoded * machine.vocoder_frame_s
        done_s = machine.slowness * now_s
        first_s = first_s or done_s
        if spoken:
            left_s = min(left_s, first_s + spoken / FRAMES_PER_S - done_s)
        spoken = ready
    return first_s, left_s


def test_default_gives_audio_within_a_second_and_a_half() -> None:
    assert played(Machine(1.0), DEFAULT, 500)[0] < 1.5
    assert played(Machine(1.0), UPSTREAM, 500)[0] > 2


@pytest.mark.parametrize("total", [80, 130, 200, 350, 1000])
def test_default_never_starves_at_a_real_time_factor_of_seven_tenths(
    total: int,
) -> None:
    # The costs above make a factor of 1.15 in all.
    _, left_s = played(Machine(0.6), DEFAULT, total)
    assert left_s > 0
